"""A small transformer and what it takes to train it, with gradients by hand: the parts, the model, tasks, the loop.

Read in this order:

1. `losses`: cross-entropy, how surprised the model is by the token that came.
2. `embedding`: a learned row for each token and each position.
3. `normalisation`: RMS norm, which brings every token to the same length.
4. `feed_forward`: the MLP, two linear layers with a smooth activation between them.
5. `transformer_layer`: attention and MLP, each with a norm before it and a residual around it.
6. `transformer_start`: random parameters to start from.
7. `transformer_model`: the transformer, any part of which can be left out, with its loss and its gradients.
8. `optimiser`: Adam, and the schedule of its learning rate.
9. `tasks`: batches to learn from: reversal, induction, words, text.
10. `loop`: take a batch, compute the loss and the gradients, make a step, and begin again.
11. `tokenizer`: text as integers and back, a token for each character.
12. `generation`: text from the model, token by token, with a cache.
13. `scores`: what a head does, as a number; accuracy.
14. `ablation`: take heads out, and see what the model does without them.
15. `checkpoint`: a file of trained weights, written and read.
16. `parameters`: one flat dict for all parameters, and the part of it that belongs to one layer.
17. `arguments`: what training asks of its arguments.
"""

from attnlib.training.ablation import head_means
from attnlib.training.checkpoint import Trained, load_trained, save_trained
from attnlib.training.embedding import add_positions, add_positions_backward, embed, embed_backward
from attnlib.training.feed_forward import mlp, mlp_backward
from attnlib.training.generation import generate
from attnlib.training.loop import train
from attnlib.training.losses import cross_entropy, cross_entropy_backward
from attnlib.training.normalisation import rms_norm, rms_norm_backward
from attnlib.training.optimiser import AdamState, adam_start, adam_step, warmup_cosine
from attnlib.training.scores import accuracy, attention_entropy, induction_score, previous_token_score
from attnlib.training.tasks import Batch, induction_batch, reversal_batch, text_batch, words_batch
from attnlib.training.tokenizer import alphabet_of, decode, encode
from attnlib.training.transformer_layer import LayerSaved, TransformerSaved
from attnlib.training.transformer_model import transformer, transformer_backward, transformer_loss
from attnlib.training.transformer_start import init_transformer

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
    "init_transformer",
    "transformer",
    "transformer_backward",
    "transformer_loss",
    "TransformerSaved",
    "LayerSaved",
    "generate",
    "head_means",
    "Batch",
    "reversal_batch",
    "induction_batch",
    "words_batch",
    "text_batch",
    "alphabet_of",
    "encode",
    "decode",
    "previous_token_score",
    "induction_score",
    "attention_entropy",
    "accuracy",
    "train",
    "Trained",
    "save_trained",
    "load_trained",
]
