#include "dft_oracle.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <memory>

namespace trn::fft::testing {
namespace {

template <class R> using Points = std::vector<test::Wide<R>>;

template <class R> test::Wide<R> product(const test::Wide<R>& a, const test::Wide<R>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> test::Wide<R> conjugate(const test::Wide<R>& a) { return {a.re, -a.im}; }

// exp(-2 pi i k/n) for k < n: products of the roots for the multiples of a step near sqrt(n) and those below it, two
// roundings each.
template <class R> Points<R> make_roots(std::uint64_t n) {
  std::uint64_t step = 1;
  while (step * step < n) ++step;
  const auto root = [&](std::uint64_t k) -> test::Wide<R> {
    const test::Turn<R> t = test::turn<R>(static_cast<std::int64_t>(k), static_cast<std::int64_t>(n));
    return {t.c, -t.s};
  };
  Points<R> fine, all(n);
  for (std::uint64_t k = 0; k < step; ++k) fine.push_back(root(k));
  for (std::uint64_t first = 0; first < n; first += step) {
    const test::Wide<R> coarse = root(first);
    for (std::uint64_t k = 0; k < step && first + k < n; ++k) all[first + k] = product(coarse, fine[k]);
  }
  return all;
}

constexpr std::uint64_t kLongestByDefinition = 100;

template <class R> class Oracle {
 public:
  Points<R> transform(const Points<R>& x) {
    Points<R> out(x.size());
    if (!x.empty()) recurse(x.data(), out.data(), x.size(), 1, *roots(x.size()));
    return out;
  }

 private:
  // Tables of powers of two are kept: every chirp needs one.
  std::shared_ptr<const Points<R>> roots(std::uint64_t n) {
    if (const auto found = tables_.find(n); found != tables_.end()) return found->second;
    auto made = std::make_shared<const Points<R>>(make_roots<R>(n));
    if ((n & (n - 1)) == 0 && n <= std::uint64_t{1} << 18) tables_[n] = made;
    return made;
  }

  // c_j = exp(-pi i j^2/n) and the transform of its conjugate, wrapped around a power of two >= 2 n.
  struct Chirp {
    std::uint64_t n = 0;
    Points<R> c, spectrum;
  };
  const Chirp& chirp(std::uint64_t n) {
    if (chirp_.n == n) return chirp_;
    std::uint64_t length = 1;
    while (length < 2 * n) length *= 2;
    const Points<R> w = make_roots<R>(2 * n);
    chirp_ = {n, Points<R>(n), {}};
    Points<R> wrapped(length);
    for (std::uint64_t j = 0; j < n; ++j) {
      chirp_.c[j] = w[j * j % (2 * n)];
      wrapped[j] = wrapped[(length - j) % length] = conjugate(chirp_.c[j]);
    }
    chirp_.spectrum = transform(wrapped);
    for (test::Wide<R>& z : chirp_.spectrum) z = {z.re / static_cast<R>(length), z.im / static_cast<R>(length)};
    return chirp_;
  }

  void by_chirp(const test::Wide<R>* x, test::Wide<R>* out, std::uint64_t n, std::uint64_t step) {
    const Chirp& t = chirp(n);
    Points<R> a(t.spectrum.size());
    for (std::uint64_t j = 0; j < n; ++j) a[j] = product(x[j * step], t.c[j]);
    a = transform(a);
    for (std::uint64_t k = 0; k < a.size(); ++k) a[k] = conjugate(product(a[k], t.spectrum[k]));
    a = transform(a);
    for (std::uint64_t k = 0; k < n; ++k) out[k] = product(conjugate(a[k]), t.c[k]);
  }

  // out[0 .. m) = DFT of x[0], x[step], ...; w: the roots of the outermost length.
  void recurse(const test::Wide<R>* x, test::Wide<R>* out, std::uint64_t m, std::uint64_t step, const Points<R>& w) {
    if (m == 1) {
      out[0] = x[0];
      return;
    }
    std::uint64_t p = m % 4 == 0 ? 4 : 2;
    while (m % p != 0) p = p * p > m ? m : p + 1;
    if (p > kLongestByDefinition && p == m) return by_chirp(x, out, m, step);
    const std::uint64_t q = m / p;
    for (std::uint64_t r = 0; r < p; ++r) recurse(x + r * step, out + r * q, q, step * p, w);
    for (std::uint64_t k = 0; k < q; ++k) column(out + k, p, q, k * (w.size() / m), w);
  }
  // The p values at, at + q, ... are multiplied by w^(r e) and transformed.
  void column(test::Wide<R>* at, std::uint64_t p, std::uint64_t q, std::uint64_t e, const Points<R>& w) {
    if (column_.size() < p) column_.resize(p);
    test::Wide<R>* const v = column_.data();
    v[0] = at[0];
    for (std::uint64_t r = 1; r < p; ++r) v[r] = e == 0 ? at[r * q] : product(at[r * q], w[r * e]);
    if (p == 2) {
      at[0] = {v[0].re + v[1].re, v[0].im + v[1].im};
      at[q] = {v[0].re - v[1].re, v[0].im - v[1].im};
      return;
    }
    if (p == 4) {
      const test::Wide<R> a{v[0].re + v[2].re, v[0].im + v[2].im}, b{v[0].re - v[2].re, v[0].im - v[2].im};
      const test::Wide<R> c{v[1].re + v[3].re, v[1].im + v[3].im}, d{v[1].re - v[3].re, v[1].im - v[3].im};
      at[0] = {a.re + c.re, a.im + c.im};
      at[q] = {b.re + d.im, b.im - d.re};
      at[2 * q] = {a.re - c.re, a.im - c.im};
      at[3 * q] = {b.re - d.im, b.im + d.re};
      return;
    }
    // Terms r and p - r together: (v_r + v_(p-r)) cos and -i (v_r - v_(p-r)) sin of 2 pi rt/p.
    const std::uint64_t half = p / 2, unit = w.size() / p;
    test::Wide<R> sum = v[0];
    for (std::uint64_t r = 1; r <= half; ++r) {
      const test::Wide<R> a = v[r], b = v[p - r];
      v[r] = {a.re + b.re, a.im + b.im};
      v[p - r] = {a.re - b.re, a.im - b.im};
      sum = {sum.re + v[r].re, sum.im + v[r].im};
    }
    at[0] = sum;
    for (std::uint64_t t = 1; t <= half; ++t) {
      test::Wide<R> even = v[0], odd;
      for (std::uint64_t r = 1; r <= half; ++r) {
        const test::Wide<R>& u = w[r * t % p * unit];
        even = {even.re + v[r].re * u.re, even.im + v[r].im * u.re};
        odd = {odd.re + v[p - r].re * u.im, odd.im + v[p - r].im * u.im};
      }
      at[t * q] = {even.re - odd.im, even.im + odd.re};
      at[(p - t) * q] = {even.re + odd.im, even.im - odd.re};
    }
  }

  std::map<std::uint64_t, std::shared_ptr<const Points<R>>> tables_;
  Chirp chirp_;
  Points<R> column_;
};

}  // namespace

std::vector<QuadPoint> quad_dft(const std::vector<QuadPoint>& x) {
  static Oracle<Quad> oracle;
  return oracle.transform(x);
}

std::vector<Long> oracle_dft(const std::vector<Long>& x) {
  static Oracle<long double> oracle;
  Points<long double> in(x.size());
  for (std::size_t j = 0; j < x.size(); ++j) in[j] = {x[j].real(), x[j].imag()};
  const Points<long double> out = oracle.transform(in);
  std::vector<Long> result(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) result[k] = {out[k].re, out[k].im};
  return result;
}

std::vector<QuadPoint> quad_sums(const std::vector<QuadPoint>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<test::Turn<Quad>> root;
  for (std::int64_t k = 0; k < n; ++k) root.push_back(test::turn<Quad>(k, n));
  std::vector<QuadPoint> result(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    QuadPoint& sum = result[static_cast<std::size_t>(k)];
    for (std::int64_t j = 0; j < n; ++j) {
      const test::Turn<Quad>& w = root[static_cast<std::size_t>(j * k % n)];
      const QuadPoint& z = x[static_cast<std::size_t>(j)];
      sum.re += z.re * w.c + z.im * w.s;
      sum.im += z.im * w.c - z.re * w.s;
    }
  }
  return result;
}

long double relative_error(const std::vector<Long>& a, const std::vector<Long>& b) {
  long double difference = 0, size = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += std::norm(a[k] - b[k]);
    size += std::norm(b[k]);
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

double relative_error(const std::vector<QuadPoint>& a, const std::vector<QuadPoint>& b) {
  Quad difference = 0, size = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const Quad re = a[k].re - b[k].re, im = a[k].im - b[k].im;
    difference += re * re + im * im;
    size += b[k].re * b[k].re + b[k].im * b[k].im;
  }
  return std::sqrt(static_cast<double>(size == 0 ? difference : difference / size));
}

}  // namespace trn::fft::testing
