// Python in colours, with the elements that it has on the page: enough for a cell while it is edited.

const WORDS = {
  k: "as assert async await break class continue def del elif else except finally for global if lambda nonlocal pass raise return try while with yield match case",
  kn: "import from",
  ow: "and in is not or",
  kc: "None True False",
  nb: "abs all any bool dict enumerate float int isinstance len list map max min print range repr reversed round set sorted str sum tuple type zip",
};
const KIND = new Map(Object.entries(WORDS).flatMap(([kind, words]) => words.split(" ").map((word) => [word, kind])));
const TOKEN = new RegExp(
  [
    String.raw`(?<c1>#.*)`,
    String.raw`(?<s2>(?<!\w)[rbufRBUF]{0,2}(?:"""[^]*?(?:"""|(?![^]))|'''[^]*?(?:'''|(?![^]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
    String.raw`(?<mf>\b\d[\d_]*(?:\.[\d_]*(?:[eE][-+]?\d+)?|[eE][-+]?\d+)|\.\d+(?:[eE][-+]?\d+)?)`,
    String.raw`(?<mi>\b(?:0[xX][\da-fA-F]+|\d[\d_]*))`,
    String.raw`(?<nd>(?<=^[ \t]*)@[\w.]+)`,
    String.raw`(?<nf>(?<=\b(?:def|class)[ \t]+)\w+)`,
    String.raw`(?<word>[^\W\d]\w*)`,
    String.raw`(?<o>[-+*/%@&|^~<>=!:]=?|\.)`,
  ].join("|"),
  "gmu",
);

const escaped = (text) => text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

export function coloured(code) {
  let html = "";
  let at = 0;
  for (const found of code.matchAll(TOKEN)) {
    const { word, ...kinds } = found.groups;
    const kind = word ? KIND.get(word) : Object.keys(kinds).find((name) => kinds[name] !== undefined);
    if (!kind || (kind === "o" && found[0] === ":")) continue;
    html += `${escaped(code.slice(at, found.index))}<c- ${kind}>${escaped(found[0])}</c->`;
    at = found.index + found[0].length;
  }
  return html + escaped(code.slice(at));
}
