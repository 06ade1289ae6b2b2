// Builds the data of a single real line: the choice of the way, its tables and its bound.
//
// Bounds. Every step maps real or Hermitian vectors to such and is a multiple of a unitary matrix on them, and an error
// at k is repeated at n - k, so that relative errors of steps add as for complex lines (line_plan.cpp); a sum of real
// products errs less than one of complex ones. A twiddle is rounded (u) and multiplied (2 u).
//   Rader   Let e there and e back be the bounds of the two inner transforms. v has the norm of the points but one; its
//     spectrum errs by e there; the product with the
//           kernel's spectrum, largest modulus `gain` times sqrt(n), by 3 u more, the way back by e back, all of norm
//             at most gain sqrt(n) |x|; sums of two at the end, and
//           the sum of all, one point of the first spectrum. Without padding gain = 1.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "../roots.hpp"
#include "limits.hpp"
#include "line_choice.hpp"
#include "real_plan.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

template <class T>
void put(Aligned<T>& table, std::size_t re, std::size_t im, std::int64_t k, std::int64_t n, bool conjugate) {
  const std::complex<T> w = root<T>(k % n, n);
  table[re] = w.real();
  table[im] = conjugate ? -w.imag() : w.imag();
}

template <class T> class Builder {
 public:
  Builder(EngineKind direction, int max_lanes) : direction_(direction), max_lanes_(max_lanes) {}

  std::shared_ptr<const RealLine<T>> build(std::int64_t n) const {
    auto line = std::make_shared<RealLine<T>>(choose(n));
    fill(*line);
    line->run = real_functions<T>().line(*line);
    return line;
  }

  // The best way by its estimated cost: no tables, no inner lines.
  RealLine<T> choose(std::int64_t n) const {
    RealLine<T> line;
    line.direction = direction_;
    line.n = n;
    line.cost = std::numeric_limits<double>::infinity();
    if (has_real_codelet(n)) {
      line.cost = real_codelet_cost(n) + 2 * static_cast<double>(n) + 5;
      line.run_dense = dense_functions<T>().codelet(n, direction_ == EngineKind::RealToHalf);
      offer_pairs(line);
      offer_parted(line);
      return line;
    }
    const bool smooth = is_smooth(n);
    const auto primes = prime_factors(n);
    const bool prime = primes.size() == 1;
    offer_pairs(line);
    offer_parted(line);
    offer_steps(line);
    if (prime) offer_prime(line);
    if (smooth && n % 2 != 0 && max_lanes_ * static_cast<int>(sizeof(T)) >= 32) offer_columns(line);
    if (prime) offer_rader(line);
    if (n % 2 == 0)
      offer_halved(line);
    else if (!prime && max_lanes_ > 1)
      offer_split(line, primes.back());
    if (line.cost == std::numeric_limits<double>::infinity() || (n % 2 != 0 && n <= kLongestSteps && smooth))
      offer_full(line);
    return line;
  }

 private:
  // Whether this way is the best until now.
  static bool better(RealLine<T>& line, RealKind kind, double cost) {
    if (cost >= line.cost) return false;
    line.kind = kind;
    line.cost = cost;
    line.run_dense = nullptr;
    return true;
  }

  void offer_pairs(RealLine<T>& line) const {
    const WholeKernel<T> kernel = dense_functions<T>().pairs(line.n, direction_ == EngineKind::RealToHalf);
    if (!kernel.run || !better(line, RealKind::Pairs, 0.6 * kernel.cost)) return;
    line.n1 = kernel.n1;
    line.n2 = kernel.n2;
    line.lanes = kernel.numbers;
    line.run_dense = kernel.run;
  }
  // A pair of vectors is about 7 operations. Complex lines of 16 numbers or fewer read them one by one, which would
  // have to wait for the vectors just written.
  void offer_parted(RealLine<T>& line) const {
    const DenseKernel<T> kernel = dense_functions<T>().parted(direction_ == EngineKind::RealToHalf);
    const std::int64_t m = line.n / 2;
    if (line.n % 2 != 0 || !kernel.run || m <= 16 || m > kLongestSteps) return;
    if (line.kind == RealKind::Pairs && 2 * line.lanes * static_cast<int>(sizeof(T)) >= 32)
      return;  // measured to be faster
    const Choice complex = chooser_.best(m);
    if (!complex.is_whole() ||
        !better(line, RealKind::Parted,
                complex.cost + 60 + 7.0 * static_cast<double>(ceiling(m / 2 + 1, kernel.numbers))))
      return;
    line.lanes = kernel.numbers;
    line.run_dense = kernel.run;
  }
  void offer_prime(RealLine<T>& line) const {
    const DenseKernel<T> kernel = dense_functions<T>().prime(direction_ == EngineKind::RealToHalf);
    const std::int64_t h = line.n / 2;
    if (line.n < 17 || line.n > kLargestDirect || !kernel.run) return;
    if (!better(line, RealKind::Prime, 1.5 * static_cast<double>(h * ceiling(h, kernel.numbers)) + 40)) return;
    line.lanes = kernel.numbers;
    line.run_dense = kernel.run;
  }
  // Every first radix and every order of every factorisation of the rest into one to four codelets. Operations count as
  // in line_choice.cpp.
  void offer_steps(RealLine<T>& line) const {
    const int widest = step_functions<T>().numbers;
    if (widest == 0) return;
    const bool there = direction_ == EngineKind::RealToHalf;
    for (const bool narrow : {false, true}) {
      if (narrow && widest * 2 * static_cast<int>(sizeof(T)) < 64) break;
      const std::int64_t numbers = narrow ? widest / 2 : widest, lanes = 2 * numbers;
      for (int n1 = 3; n1 <= 15; ++n1) {
        const RealColumns<T> columns = step_functions<T>().real_columns(n1, there, narrow);
        const std::int64_t m = line.n / n1, row = ceiling(n1 / 2 + 1, numbers) * numbers;
        if (line.n % n1 != 0 || m < 2 || !columns || m * row > kLongestSteps) continue;
        const double weight = narrow ? 0.6 : 1.0, constant = 40, vectors = static_cast<double>(row / numbers);
        const double first =
            static_cast<double>(ceiling(m, lanes)) *
                (real_codelet_cost(n1) + 6.0 * n1 + 2.0 * static_cast<double>(row) * (narrow ? 4 : 5)) +
            25;
        const auto search = [&](const auto& self, std::int64_t rest, double cost, std::vector<int>& radices) -> void {
          for (int r = 2; r <= 16; ++r) {
            if (rest % r != 0 || !step_functions<T>().half_rows(r, HalfRows::Middle, narrow) || radices.size() == 4)
              continue;
            const double points = r, work = pairs_codelet_cost(r) + 2 * points + (rest > r ? 5 * points : 2 * points);
            const double total = cost + 15 + static_cast<double>(m / r) * vectors * work;
            radices.push_back(r);
            if (rest > r) {
              self(self, rest / r, total, radices);
            } else if (better(line, RealKind::Steps, weight * total + constant)) {
              line.n1 = n1;
              line.n2 = m;
              line.lanes = static_cast<int>(numbers);
              line.columns = columns;
              line.radices = radices;
              line.run_dense = step_functions<T>().run_real(there);
            }
            radices.pop_back();
          }
        };
        std::vector<int> radices;
        search(search, m, first, radices);
      }
    }
  }
  void offer_halved(RealLine<T>& line) const {
    const Choice complex = chooser_.best(line.n / 2);
    if (complex.is_whole() && line.run_dense) return;  // Parted and its like are faster, whatever they are estimated at
    if (better(line, RealKind::Halved, complex.cost + 60 + 6.0 * static_cast<double>(line.n) / max_lanes_))
      line.lanes = std::max(1, step_functions<T>().numbers);
  }
  void offer_full(RealLine<T>& line) const {
    better(line, RealKind::Full, chooser_.best(line.n).cost + 60 + 6.0 * static_cast<double>(line.n) / max_lanes_);
  }
  // The largest prime factor by itself, the rest in the lanes.
  void offer_split(RealLine<T>& line, std::int64_t n2) const {
    const std::int64_t n1 = line.n / n2;
    if (n2 < 17 || !is_smooth(n1) || n2 / 2 + 1 < max_lanes_) return;
    const double cost =
        static_cast<double>(n1) * (choose(n2).cost + 20) +
        static_cast<double>(ceiling(n2 / 2 + 1, max_lanes_)) * (passes_cost(n1) + 12 * static_cast<double>(n1)) + 60;
    if (!better(line, RealKind::Split, cost)) return;
    line.n1 = n1;
    line.n2 = n2;
    line.lanes = max_lanes_;
  }
  void offer_columns(RealLine<T>& line) const {
    for (std::int64_t n1 = 3; n1 * max_lanes_ <= line.n && n1 <= kLongestColumn; ++n1) {
      if (line.n % n1 != 0) continue;
      const std::int64_t n2 = line.n / n1, columns = ceiling(n2, max_lanes_), blocks = ceiling(n1 / 2 + 1, max_lanes_);
      const double cost = static_cast<double>(columns) * (real_passes_cost(n1) + 8 * static_cast<double>(n1)) +
                          static_cast<double>(blocks) * (passes_cost(n2) + 12 * static_cast<double>(n2)) +
                          10.0 * static_cast<double>(columns * blocks * max_lanes_) + 100;
      if (!better(line, RealKind::Columns, 1.8 * cost)) continue;
      line.n1 = n1;
      line.n2 = n2;
      line.lanes = max_lanes_;
    }
  }
  void offer_rader(RealLine<T>& line) const {
    if (line.n >= kLongestRader) return;
    std::vector<std::int64_t> lengths = convolution_lengths(2 * line.n - 3);
    if (is_smooth(line.n - 1)) lengths.insert(lengths.begin(), line.n - 1);
    const Builder there(EngineKind::RealToHalf, max_lanes_);
    std::erase_if(lengths, [](std::int64_t length) { return length % 2 != 0; });
    if (lengths.size() > kRaderLengths) lengths.resize(kRaderLengths);
    // Those that are too long for float are left to the complex lines, which do them in double. Some lengths of a prime
    // may be and others not.
    if (sizeof(T) == sizeof(float))
      std::erase_if(lengths, [](std::int64_t length) { return length >= kLongConvolution; });
    for (const std::int64_t length : lengths) {
      const double cost = 2 * there.choose(length).cost + 6.0 * static_cast<double>(line.n) +
                          12.0 * static_cast<double>(length) / max_lanes_ + 60;
      if (better(line, RealKind::Rader, cost)) line.n2 = length;
    }
  }

  void fill(RealLine<T>& line) const {
    const double u = std::numeric_limits<T>::epsilon() / 2;
    const bool back = direction_ == EngineKind::HalfToReal;
    const std::int64_t n = line.n, n1 = line.n1, n2 = line.n2;
    switch (line.kind) {
      case RealKind::Codelet:
        line.bound = direct_sum_bound<T>(n);
        return;
      case RealKind::Pairs:
        return add_pairs(line);
      case RealKind::Parted:
      case RealKind::Halved:
        line.complex = make_line_plan<T>(n / 2, max_lanes_);
        line.run_complex = line_functions<T>().one_line;
        line.bound = line.complex->bound + 6 * u;  // one more twiddle and two additions
        return add_parts(line, ceiling(n / 4 + 1, line.lanes));
      case RealKind::Prime: {
        line.bound = direct_sum_bound<T>(n);
        const std::int64_t h = n / 2, pitch = 2 * ceiling(h, line.lanes) * line.lanes;
        line.twiddles.assign(static_cast<std::size_t>(h * pitch), T(0));
        for (std::int64_t j = 1; j <= h; ++j)
          for (std::int64_t k = 1; k <= h; ++k) {
            const std::size_t at = static_cast<std::size_t>((j - 1) * pitch + 2 * (k - 1));
            put(line.twiddles, at, at + 1, j * k, n, false);
            if (back) line.twiddles[at] *= 2, line.twiddles[at + 1] *= 2;
          }
        return;
      }
      case RealKind::Steps:
        line.bound = direct_sum_bound<T>(n) + 6 * u;
        return add_steps(line);
      case RealKind::Columns: {
        line.bound = direct_sum_bound<T>(n) + 6 * u;
        line.columns_first = make_real_passes<T>(direction_, n1);
        line.first = make_passes<T>(n2);
        const std::int64_t v = line.lanes, rows = n1 / 2 + 1;
        line.twiddles.resize(static_cast<std::size_t>(ceiling(n2, v) * rows * 2 * v));
        std::size_t at = 0;
        for (std::int64_t c = 0; c < ceiling(n2, v); ++c)
          for (std::int64_t k = 0; k < rows; ++k, at += static_cast<std::size_t>(v))
            for (std::int64_t lane = 0; lane < v; ++lane, ++at)
              put(line.twiddles, at, at + static_cast<std::size_t>(v), (std::min(c * v, n2 - v) + lane) * k, n, false);
        return;
      }
      case RealKind::Split: {
        line.inner = build(n2);
        line.bound = direct_sum_bound<T>(n1) + line.inner->bound + 4 * u;
        line.first = make_passes<T>(n1);
        const std::int64_t count = n2 / 2 + 1;
        line.twiddles.resize(static_cast<std::size_t>(2 * n1 * count));
        for (std::int64_t j = 0; j < n1; ++j)
          for (std::int64_t k = 0; k < count; ++k) {
            const std::size_t at = static_cast<std::size_t>(2 * j * count + k);
            put(line.twiddles, at, at + static_cast<std::size_t>(count), j * k, n, false);
          }
        return;
      }
      case RealKind::Rader:
        line.inner = Builder(EngineKind::RealToHalf, max_lanes_).build(n2);
        line.back = Builder(EngineKind::HalfToReal, max_lanes_).build(n2);
        return add_rader(line);
      case RealKind::Full:
        line.complex = make_line_plan<T>(n, max_lanes_);
        line.bound = line.complex->bound;
        line.run_complex = line_functions<T>().one_line;
    }
  }

  // Twiddles of the complex transform of n/2 numbers as in line_plan.cpp; then w_n^k/(2i), or i/w_n^k.
  void add_pairs(RealLine<T>& line) const {
    const double u = std::numeric_limits<T>::epsilon() / 2;
    const bool back = direction_ == EngineKind::HalfToReal;
    const std::int64_t n = line.n, m = n / 2, n1 = line.n1, n2 = line.n2, v = line.lanes, vectors = m / v;
    line.bound = direct_sum_bound<T>(m) + 12 * u;
    for (std::int64_t c = 0; c < n2; c += v)
      for (std::int64_t k = 1; k < n1; ++k)
        for (const bool turned : {false, true})
          for (std::int64_t i = 0; i < v; ++i) {
            const std::complex<long double> w = long_root((c + i) * k % m, m);
            add(line, back ? std::conj(w) : w, turned);
          }
    add_parts(line, (vectors + 1) / 2);
  }
  // w, or turned, as a number to multiply with: re, re or -im, im.
  static void add(RealLine<T>& line, std::complex<long double> w, bool turned) {
    line.twiddles.push_back(static_cast<T>(turned ? -w.imag() : w.real()));
    line.twiddles.push_back(static_cast<T>(turned ? w.imag() : w.real()));
  }
  // w_n^k/(2i), or i/w_n^k: so many vectors.
  void add_parts(RealLine<T>& line, std::int64_t vectors) const {
    const bool back = direction_ == EngineKind::HalfToReal;
    for (std::int64_t q = 0; q < vectors; ++q)
      for (const bool turned : {false, true})
        for (std::int64_t i = 0; i < line.lanes; ++i) {
          const std::complex<long double> w = long_root(q * line.lanes + i, line.n);
          add(line,
              back ? std::complex<long double>{w.imag(), w.real()}
                   : std::complex<long double>{w.imag() / 2, -w.real() / 2},
              turned);
        }
  }

  // Of the columns w_n^(qt), [block][t][re, im][lanes]; of the passes as in line_plan.cpp. Back, their conjugates.
  void add_steps(RealLine<T>& line) const {
    const bool back = direction_ == EngineKind::HalfToReal, narrow = line.lanes < step_functions<T>().numbers;
    const std::int64_t n = line.n, n1 = line.n1, m = line.n2, lanes = 2 * line.lanes,
                       row = ceiling(n1 / 2 + 1, line.lanes) * line.lanes;
    for (std::int64_t next = 0; next < m; next += lanes)
      for (std::int64_t t = 1; t <= n1 / 2; ++t)
        for (const bool imaginary : {false, true})
          for (std::int64_t i = 0; i < lanes; ++i) {
            const std::int64_t q = m < lanes ? std::min(i, m - 1) : std::min(next, m - lanes) + i;
            const std::complex<T> w = root<T>(q * t % n, n);
            line.twiddles.push_back(!imaginary ? w.real() : back ? -w.imag() : w.imag());
          }
    std::vector<std::size_t> place;
    std::int64_t rest = m;
    for (const int r : line.radices) {
      place.push_back(line.twiddles.size());
      for (std::int64_t q = 0; rest > r && q < rest / r; ++q)
        for (std::int64_t t = 1; t < r; ++t)
          for (const bool turned : {false, true}) {
            const std::complex<long double> w = long_root(q * t % rest, rest);
            add(line, back ? std::conj(w) : w, turned);
          }
      rest /= r;
    }
    std::int64_t l = row;
    rest = m;
    for (std::size_t i = 0; i < line.radices.size(); ++i) {
      const int r = line.radices[i];
      const bool last = i + 1 == line.radices.size();
      const HalfRows where = back   ? (i == 0 ? HalfRows::In
                                       : last ? HalfRows::Last
                                              : HalfRows::Middle)
                             : last ? HalfRows::Out
                                    : HalfRows::Middle;
      rest /= r;
      const T* table = line.twiddles.data() + place[i];
      line.steps.push_back({step_functions<T>().half_rows(r, where, narrow), l, rest, {table, table}});
      l *= r;
    }
  }

  // Of the lines that convolutions use: the longer ones are halved.
  static double stretch_of(const RealLine<T>& line) { return line.complex ? stretch(*line.complex) : 0; }

  void add_rader(RealLine<T>& line) const {
    const double u = std::numeric_limits<T>::epsilon() / 2;
    const std::int64_t n = line.n, length = line.n2, g = primitive_root(n), inverse = power_modulo(g, n - 2, n);
    line.gather.resize(static_cast<std::size_t>(n - 1));
    line.scatter.resize(static_cast<std::size_t>(n - 1));
    std::vector<std::complex<long double>> kernel(static_cast<std::size_t>(length));
    for (std::int64_t q = 0, up = 1, down = 1; q < n - 1; ++q, up = up * g % n, down = down * inverse % n) {
      line.scatter[static_cast<std::size_t>(q)] = static_cast<std::int32_t>(up);
      line.gather[static_cast<std::size_t>(q)] = static_cast<std::int32_t>(down);
      const std::complex<long double> w = long_root(up, n);
      kernel[static_cast<std::size_t>(q)] = w.real() - w.imag();
      if (length > n - 1 && q > 0)
        kernel[static_cast<std::size_t>(length - (n - 1) + q)] = w.real() - w.imag();  // at -(n - 1 - q)
    }
    const Aligned<T> whole = kernel_spectrum<T>(kernel, stretch_of(*line.inner) + stretch_of(*line.back));
    const std::int64_t count = length / 2 + 1;
    const T half = direction_ == EngineKind::RealToHalf ? T(0.5) : T(1);
    double largest = 0;
    line.spectrum.resize(static_cast<std::size_t>(2 * count));
    for (std::int64_t k = 0; k < count; ++k) {
      const T re = whole[static_cast<std::size_t>(k)], im = whole[static_cast<std::size_t>(length + k)];
      largest = std::max(largest, std::hypot(static_cast<double>(re), static_cast<double>(im)));
      line.spectrum[static_cast<std::size_t>(k)] = half * re;
      line.spectrum[static_cast<std::size_t>(count + k)] = half * im;
    }
    const double gain = std::max(1.0, largest * static_cast<double>(length) / std::sqrt(static_cast<double>(n)));
    line.bound = gain * (line.inner->bound + line.back->bound + 4 * u) + line.inner->bound + 8 * u;
  }

  EngineKind direction_;
  int max_lanes_;
  mutable Chooser chooser_{max_lanes_, sizeof(T)};  // knows the costs of complex lines
};

}  // namespace

template <class T> std::int64_t RealLine<T>::shared_reals() const {
  switch (kind) {
    case RealKind::Codelet:
    case RealKind::Pairs:
    case RealKind::Parted:
    case RealKind::Prime:
    case RealKind::Steps:
      return round_up(n) + round_up(n + 2) + 16;
    case RealKind::Columns: {
      const std::int64_t blocks = ceiling(n1 / 2 + 1, lanes);
      return blocks * n2 * 2 * lanes + 4 * lanes * std::max(blocks * lanes, n2) + columns_first.scratch_rows() * lanes +
             round_up(n);
    }
    case RealKind::Split:
      return 2 * n1 * round_up(n2 / 2 + 1) + 4 * lanes * n1 + inner->shared_reals();
    case RealKind::Rader:
      return round_up(n2 + 16) + round_up(n2 + 18) + std::max(inner->shared_reals(), back->shared_reals());
    case RealKind::Halved:
    case RealKind::Full:
      return 2 * round_up(n + 32) + complex->shared_reals();
  }
  return 0;
}
template <class T> std::int64_t RealLine<T>::private_reals() const {
  if (complex) return complex->is_whole() ? 0 : complex->private_reals();
  return std::max(inner ? inner->private_reals() : 0, back ? back->private_reals() : 0);
}

template <class T>
std::shared_ptr<const RealLine<T>> make_real_line(EngineKind direction, std::int64_t n, int max_lanes) {
  return Builder<T>(direction, max_lanes).build(n);
}

template <class T> RealLine<T> choose_real_line(EngineKind direction, std::int64_t n, int max_lanes) {
  return Builder<T>(direction, max_lanes).choose(n);
}

template struct RealLine<float>;
template struct RealLine<double>;
template std::shared_ptr<const RealLine<float>> make_real_line<float>(EngineKind, std::int64_t, int);
template std::shared_ptr<const RealLine<double>> make_real_line<double>(EngineKind, std::int64_t, int);
template RealLine<float> choose_real_line<float>(EngineKind, std::int64_t, int);
template RealLine<double> choose_real_line<double>(EngineKind, std::int64_t, int);

}  // namespace trn::fft::host
