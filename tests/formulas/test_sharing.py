"""The formulas of chapter 8, evaluated as they stand."""

from formula_cases import agree

W, N, D, V = 5, 30, 4, 7


def sent_by_links(keys_leave, gradients_leave):
    """Numbers sent if each owner's keys, and its parcel of gradients, cross the links that leave these workers."""
    return sum(N // W * (D + V) * (len(keys_leave(owner)) + len(gradients_leave(owner))) for owner in range(W))


def test_ring_traffic():
    r"""\begin{aligned} \text{forward:}\quad & (W-1)\,n\,(d+v)\\ \text{backward:}\quad & 2\,(W-1)\,n\,(d+v) \end{aligned}"""
    n, d, v = N, D, V

    def on_the_way_out(owner):  # all but the last one to see the keys
        return [(owner + step) % W for step in range(W - 1)]

    def on_the_way_home(owner):  # all but the owner, in whose hands the parcel ends
        return [(owner + step) % W for step in range(1, W)]

    agree((W - 1) * n * (d + v), sent_by_links(on_the_way_out, lambda owner: ()))
    agree(2 * (W - 1) * n * (d + v), sent_by_links(on_the_way_out, on_the_way_home))


def test_ring_tokens():
    r"""\frac nW \ge \frac{\text{peak}}{\text{bandwidth}}"""
    peak, bandwidth, d = 6e12, 3e9, 64

    def waits(each):  # whether a round spends more time on sending than on computing
        computing = (2 * each * each * d + 2 * each * each * d) / peak
        return 2 * (each * d + each * d) / bandwidth > computing  # two bytes for each number

    fewest = next(each for each in range(1, 10**4) if not waits(each))
    agree(peak / bandwidth, fewest)
