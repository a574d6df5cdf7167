"""The sentences in pairs on which chapter 13 tests what a head finds: one word differs, and with it what a pronoun means.

    python -m tools.recorded.pronoun_pairs

writes chapters/data/pronoun_pairs.csv, a row for each sentence. The templates differ in every word but the nouns, the
pronoun and *the*, so a template is what counts as one observation. In half of the templates of the kind *property* the
animal comes first; in the other kinds each template has two pairs with either noun first. The half decides which
templates may choose a head (a) and which may judge it (b).
"""

import csv
import io
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "chapters" / "data" / "pronoun_pairs.csv"
COLUMNS = ("kind", "template", "half", "pair", "sentence", "pronoun", "right", "wrong", "answer")

# Sentence, then four times: animal, thing, a word that fits the animal, a word that fits the thing.
PROPERTY = [
    ("The {animal} slept on the {thing} because it was {word}.", [
        ("cat", "mat", "tired", "soft"), ("dog", "carpet", "exhausted", "thick"), ("kitten", "blanket", "sleepy", "new"), ("wolf", "grass", "weary", "dry"),
    ]),
    ("The {animal} ate the {thing} because it was {word}.", [
        ("mouse", "cheese", "hungry", "fresh"), ("bear", "cake", "greedy", "sweet"), ("horse", "apple", "hungry", "ripe"), ("pig", "bread", "starving", "delicious"),
    ]),
    ("The {animal} drank the {thing} because it was {word}.", [
        ("cat", "milk", "thirsty", "fresh"), ("camel", "water", "thirsty", "clean"), ("monkey", "juice", "curious", "delicious"), ("dog", "soup", "greedy", "salty"),
    ]),
    ("The {animal} hid behind the {thing} because it was {word}.", [
        ("rabbit", "wall", "afraid", "thick"), ("cat", "curtain", "shy", "long"), ("fox", "fence", "scared", "wide"), ("deer", "door", "nervous", "open"),
    ]),
    ("The {animal} did not cross the {thing} because it was too {word}.", [
        ("animal", "street", "tired", "wide"), ("horse", "river", "weak", "deep"), ("goat", "bridge", "frightened", "narrow"), ("cow", "road", "lazy", "busy"),
    ]),
    ("The {animal} broke the {thing} because it was {word}.", [
        ("monkey", "vase", "angry", "fragile"), ("cat", "cup", "careless", "cracked"), ("elephant", "fence", "furious", "wooden"), ("dog", "window", "excited", "thin"),
    ]),
    ("The {animal} could not open the {thing} because it was too {word}.", [
        ("rat", "box", "weak", "tight"), ("dog", "gate", "stupid", "rusty"), ("bear", "door", "tired", "heavy"), ("cat", "drawer", "lazy", "stiff"),
    ]),
    ("The {animal} carried the {thing} because it was {word}.", [
        ("donkey", "bag", "strong", "full"), ("dog", "basket", "faithful", "light"), ("horse", "gold", "loyal", "precious"), ("elephant", "tree", "powerful", "dead"),
    ]),
    ("The {animal} chased the {thing} because it was {word}.", [
        ("dog", "ball", "excited", "round"), ("kitten", "string", "playful", "long"), ("bull", "car", "furious", "red"), ("puppy", "bus", "curious", "noisy"),
    ]),
    ("The {animal} sat near the {thing} because it was {word}.", [
        ("cat", "stove", "lonely", "lit"), ("dog", "fire", "sick", "bright"), ("bird", "lamp", "tired", "lit"), ("duck", "lake", "tired", "deep"),
    ]),
    ("The {animal} climbed the {thing} because it was {word}.", [
        ("bear", "tree", "hungry", "hollow"), ("goat", "hill", "brave", "steep"), ("cat", "ladder", "curious", "wooden"), ("monkey", "pole", "bored", "smooth"),
    ]),
    ("The {animal} bit the {thing} because it was {word}.", [
        ("dog", "bone", "hungry", "fresh"), ("rat", "rope", "nervous", "loose"), ("snake", "boot", "angry", "leather"), ("horse", "carrot", "greedy", "sweet"),
    ]),
    ("The {thing} was eaten by the {animal} because it was {word}.", [
        ("fox", "egg", "hungry", "fresh"), ("dog", "meat", "starving", "raw"), ("bird", "seed", "greedy", "dry"), ("monkey", "fruit", "hungry", "sweet"),
    ]),
    ("The {thing} was given to the {animal} because it was {word}.", [
        ("cat", "milk", "thirsty", "fresh"), ("dog", "bone", "loyal", "large"), ("monkey", "banana", "clever", "ripe"), ("kitten", "blanket", "sleepy", "soft"),
    ]),
    ("The {thing} was broken by the {animal} because it was {word}.", [
        ("cat", "glass", "nervous", "thin"), ("bull", "gate", "angry", "wooden"), ("horse", "rope", "impatient", "rotten"), ("dog", "toy", "excited", "plastic"),
    ]),
    ("The {thing} was carried by the {animal} because it was {word}.", [
        ("camel", "tent", "strong", "heavy"), ("dog", "stick", "playful", "short"), ("donkey", "wood", "patient", "wet"), ("bird", "letter", "clever", "urgent"),
    ]),
    ("The {thing} was moved to the {animal} because it was {word}.", [
        ("cat", "mat", "tired", "soft"), ("dog", "carpet", "sick", "thick"), ("horse", "straw", "weary", "dry"), ("rabbit", "lamp", "afraid", "bright"),
    ]),
    ("The {thing} stopped the {animal} because it was too {word}.", [
        ("animal", "river", "tired", "deep"), ("dog", "fence", "lazy", "high"), ("horse", "wall", "weak", "thick"), ("cow", "gate", "stupid", "narrow"),
    ]),
    ("The {thing} was bought for the {animal} because it was {word}.", [
        ("dog", "basket", "tired", "cheap"), ("bird", "cage", "lonely", "wooden"), ("horse", "saddle", "fast", "leather"), ("cat", "ball", "playful", "round"),
    ]),
    ("The {thing} frightened the {animal} because it was so {word}.", [
        ("cat", "drum", "shy", "loud"), ("horse", "train", "nervous", "long"), ("dog", "storm", "young", "violent"), ("sheep", "bell", "nervous", "noisy"),
    ]),
    ("The {thing} was near the {animal}, but it was {word}.", [
        ("cat", "milk", "asleep", "sour"), ("dog", "bone", "blind", "rotten"), ("horse", "apple", "ill", "green"), ("bird", "bread", "sick", "stale"),
    ]),
    ("The {thing} did not interest the {animal} because it was {word}.", [
        ("cat", "fish", "tired", "rotten"), ("dog", "toy", "asleep", "plastic"), ("horse", "grass", "ill", "brown"), ("monkey", "book", "stupid", "boring"),
    ]),
    ("The {thing} was hidden from the {animal} because it was {word}.", [
        ("dog", "cake", "greedy", "expensive"), ("rat", "corn", "hungry", "yellow"), ("cat", "mirror", "nervous", "broken"), ("bear", "honey", "greedy", "sweet"),
    ]),
    ("The {thing} was left to the {animal} because it was {word}.", [
        ("pig", "bread", "hungry", "stale"), ("donkey", "hay", "patient", "dry"), ("dog", "soup", "starving", "cold"), ("goat", "corn", "hungry", "rotten"),
    ]),
]  # fmt: skip

# Sentence, and what it says of the noun that the pronoun stands for.
GENDER = [
    ("The {first} thanked the {second} because {pronoun} was kind.", "The {noun} was kind."),
    ("The {first} called the {second} because {pronoun} was lonely.", "The {noun} was lonely."),
    ("The {first} waited for the {second} because {pronoun} was late.", "The {noun} was late."),
    ("The {first} met the {second} before {pronoun} left the city.", "The {noun} left the city."),
    ("The {first} wrote to the {second} when {pronoun} was abroad.", "The {noun} was abroad."),
    ("The {first} sat next to the {second}, and {pronoun} smiled.", "The {noun} smiled."),
    ("The {first} helped the {second} because {pronoun} was ill.", "The {noun} was ill."),
    ("The {first} followed the {second} until {pronoun} reached the house.", "The {noun} reached the house."),
    ("The {first} asked the {second} whether {pronoun} could stay.", "The {noun} could stay."),
    ("The {first} danced with the {second} although {pronoun} was tired.", "The {noun} was tired."),
    ("The {first} visited the {second} after {pronoun} moved away.", "The {noun} moved away."),
    ("The {first} lost the game to the {second}, so {pronoun} went home.", "The {noun} went home."),
]
NUMBER = [
    ("The {first} followed the {second} until {pronoun} reached the river.", "The {noun} reached the river."),
    ("The {first} passed the {second} before {pronoun} turned left.", "The {noun} turned left."),
    ("The {first} watched the {second} while {pronoun} moved slowly.", "The {noun} moved slowly."),
    ("The {first} stood near the {second}, and then {pronoun} disappeared.", "The {noun} disappeared."),
    ("The {first} came after the {second} because {pronoun} started early.", "The {noun} started early."),
    ("The {first} met the {second} when {pronoun} crossed the valley.", "The {noun} crossed the valley."),
    ("The {first} waited for the {second} because {pronoun} stopped at the gate.", "The {noun} stopped at the gate."),
    ("The {first} hit the {second} because {pronoun} came too fast.", "The {noun} came too fast."),
    ("The {first} stayed behind the {second} although {pronoun} slowed down.", "The {noun} slowed down."),
    ("The {first} left the {second} after {pronoun} arrived at the farm.", "The {noun} arrived at the farm."),
    ("The {first} looked like the {second}, but {pronoun} made no noise.", "The {noun} made no noise."),
    ("The {first} blocked the {second}, so {pronoun} went back.", "The {noun} went back."),
]

# The nouns of the two other kinds: he and she, it and they.
PEOPLE = [
    ("man", "woman"), ("king", "queen"), ("boy", "girl"), ("uncle", "aunt"),
    ("father", "mother"), ("brother", "sister"), ("son", "daughter"), ("husband", "wife"),
    ("prince", "princess"), ("actor", "actress"), ("waiter", "waitress"), ("nephew", "niece"),
]
THINGS = [
    ("dog", "cats"), ("bird", "snakes"), ("horse", "cows"), ("wolf", "bears"),
    ("car", "trucks"), ("ship", "boats"), ("cat", "dogs"), ("bear", "wolves"),
    ("fox", "birds"), ("train", "cars"), ("lion", "elephants"), ("rat", "rabbits"),
]


def rows():
    """Yield a dictionary for each sentence, two for each pair."""
    for number, (sentence, fills) in enumerate(PROPERTY):
        for pair, (animal, thing, *words) in enumerate(fills):
            for word, right, wrong in zip(words, (animal, thing), (thing, animal), strict=True):
                text = sentence.format(animal=animal, thing=thing, word=word)
                yield row("property", number, pair, text, "it", right, wrong, f"The {{noun}} was {word}.")
    for kind, templates, nouns, pronouns in (
        ("gender", GENDER, PEOPLE, ("he", "she")),
        ("number", NUMBER, THINGS, ("it", "they")),
    ):
        for number, (sentence, answer) in enumerate(templates):
            for pair in range(4):
                two = nouns[(number + 3 * pair) % len(nouns)]
                first, second = two if pair % 2 == 0 else two[::-1]
                for pronoun, right, wrong in zip(pronouns, two, two[::-1], strict=True):
                    text = sentence.format(first=first, second=second, pronoun=pronoun)
                    yield row(kind, number, pair, text, pronoun, right, wrong, answer)


def row(kind, template, pair, sentence, pronoun, right, wrong, answer):
    half = "ab"[template % 2]
    return dict(zip(COLUMNS, (kind, template, half, pair, sentence, pronoun, right, wrong, answer), strict=True))


def text_of():
    """The text of the file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows())
    return file.getvalue()


if __name__ == "__main__":
    FILE.write_text(text_of(), encoding="ascii")
