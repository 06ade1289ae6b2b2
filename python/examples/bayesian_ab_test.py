"""Which of two pages sells better? Beta posteriors, and the probability that B is better than A, from draws.

    python bayesian_ab_test.py [executor]

The visits are drawn on the executor: Bernoulli numbers are the same bits on all of them, so the answer does not depend on it. With a uniform prior and s sales among n visits the rate has the distribution Beta(s + 1, n - s + 1). P(rate_B > rate_A), the expected
gain, and the loss that is to be feared when one decides for B are means over draws of the two.
"""
import sys

import numpy as np

from trnsci import rand

VISITS, RATES = 2000, (0.060, 0.075)  # the rates are what the test is to find out


def main(executor=None, draws=200_000):
    visitors, g = rand.Generator(7), rand.Generator(11)
    sales = [int(visitors.bernoulli(p, VISITS, executor=executor).sum()) for p in RATES]
    a, b = (g.beta(s + 1.0, VISITS - s + 1.0, draws) for s in sales)
    better = float((b > a).mean())
    result = {"sales": sales, "rate_a": float(a.mean()), "rate_b": float(b.mean()), "better": better, "error": np.sqrt(better * (1 - better) / draws),
              "gain": float((b - a).mean()), "loss": float(np.maximum(a - b, 0).mean()),
              "interval": tuple(float(q) for q in np.quantile(b - a, (0.025, 0.975)))}
    print(f"of {VISITS} visitors each A sold to {sales[0]}, B to {sales[1]}")
    print(f"A sells to {result['rate_a']:.2%} of visitors, B to {result['rate_b']:.2%}")
    print(f"B is better with probability {better:.4f} +- {result['error']:.4f}; 95 % of the differences lie in "
          f"[{result['interval'][0]:+.3%}, {result['interval'][1]:+.3%}]; the loss to be feared is {result['loss']:.4%}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
