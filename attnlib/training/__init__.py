"""A small transformer and what it takes to train it, with gradients by hand: the parts, the models, tasks, the loop.

Read in this order:

1. `losses`: cross-entropy, how surprised the model is by the token that came.
2. `embedding`: a row for each token and each position, looked up and learned.
3. `normalisation`: RMS norm, every token brought to the same length.
4. `feed_forward`: the MLP, two layers with a smooth bend.
5. `optimiser`: Adam, and how the length of its step is planned.
6. `attention_model`: a transformer of attention alone, whose heads can be taken out.
7. `complete_block`: the complete block, with norm, rotary attention and MLP; with a cache too.
8. `language`: the complete small model, and text from it.
9. `tasks`: batches to learn from: reversal, induction, text.
10. `characters`: text as integers and back.
11. `scores`: what a head does, as a number; accuracy.
12. `model_losses`: a model's loss on a batch, with its gradients.
13. `loop`: batch, loss, gradients, step, again.
14. `trained`: a file of trained weights, written and read.
15. `layers`: one flat dict for all parameters, and one layer's part of it.
16. `arguments`: what training asks of its arguments.
17. `suspect`: two trainings of chapter 10, one of them with a bug.
"""

from attnlib.training.complete_block import BlockSaved, block, block_backward, block_decode, init_block
from attnlib.training.characters import alphabet_of, decode, encode
from attnlib.training.embedding import add_positions, add_positions_backward, embed, embed_backward
from attnlib.training.feed_forward import mlp, mlp_backward
from attnlib.training.language import (
    LanguageModelSaved,
    generate,
    init_language_model,
    language_model,
    language_model_backward,
)
from attnlib.training.loop import train
from attnlib.training.losses import cross_entropy, cross_entropy_backward
from attnlib.training.attention_model import (
    ModelSaved,
    attention_only,
    attention_only_backward,
    head_means,
    init_attention_only,
)
from attnlib.training.model_losses import attention_only_loss, language_model_loss
from attnlib.training.normalisation import rms_norm, rms_norm_backward
from attnlib.training.optimiser import AdamState, adam_start, adam_step, warmup_cosine
from attnlib.training.scores import accuracy, attention_entropy, induction_score, previous_token_score
from attnlib.training.tasks import Batch, induction_batch, reversal_batch, text_batch
from attnlib.training.trained import Trained, load_trained, save_trained

__all__ = [
    "cross_entropy",
    "cross_entropy_backward",
    "embed",
    "embed_backward",
    "add_positions",
    "add_positions_backward",
    "rms_norm",
    "rms_norm_backward",
    "mlp",
    "mlp_backward",
    "AdamState",
    "adam_start",
    "adam_step",
    "warmup_cosine",
    "init_attention_only",
    "attention_only",
    "attention_only_backward",
    "ModelSaved",
    "head_means",
    "init_block",
    "block",
    "block_backward",
    "block_decode",
    "BlockSaved",
    "init_language_model",
    "language_model",
    "language_model_backward",
    "LanguageModelSaved",
    "generate",
    "Batch",
    "reversal_batch",
    "induction_batch",
    "text_batch",
    "alphabet_of",
    "encode",
    "decode",
    "previous_token_score",
    "induction_score",
    "attention_entropy",
    "accuracy",
    "train",
    "attention_only_loss",
    "language_model_loss",
    "Trained",
    "save_trained",
    "load_trained",
]
