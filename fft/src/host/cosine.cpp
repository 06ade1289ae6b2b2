// Cosine and sine transforms on the host: a pass that arranges the lines, one batched Fourier transform, a pass that
// turns its points.
//
// With w = exp(-2 pi i / 4n) and w8 = exp(-2 pi i / 8n):
//   II   v = (x_0, x_2, x_4, ..., x_5, x_3, x_1), V = rfft(v):        y_k = 2 Re(V_k w^k), y_{n-k} = -2 Im(V_k w^k)
//     for 2k <= n
//   III  the way back: V_k = (x_k - i x_{n-k}) w^-k, v = irfft(V) without 1/n, y in v's order
//   IV   even n: t_j = (x_{2j} + i x_{n-1-2j}) w^{2j}, z = w8^{4k+1} fft(t):   y_{2k} = 2 Re z_k, y_{n-1-2k} = -2 Im
//     z_k      for 2k < n
//        odd n: y_k = 2 Re(w8^{2k+1} fft(x_j w^j)), the transform having 2n points
//   I    rfft of the even extension (x_0 ... x_{n-1} ... x_1); for the sine of the odd one (0, x_0 ... x_{n-1}, 0,
//     -x_{n-1} ... -x_0),
//        y_k = -Im V_{k+1}
// The sines: dst II (x)_k = dct II ((-1)^j x_j)_{n-1-k}, dst III (x)_k = (-1)^k dct III (x_{n-1-j})_k, and IV like III.
#include "../cosine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "../function_precision.hpp"
#include "../parallel.hpp"
#include "../roots.hpp"
#include "../views.hpp"

namespace trn::fft::host {
namespace {

using detail::Wave;

template <class T> class Lines {
 public:
  explicit Lines(const CosineArgs& a) : a_(a), cosine_(a.wave == Wave::Cosine) {}

  // x_j of line b as the cosine algorithm wants it: reversed, with signs, and its ends scaled.
  [[nodiscard]] T load(const T* line, std::int64_t j) const {
    const std::int64_t n = a_.n;
    const bool turned = !cosine_ && (a_.type == CosineType::III || a_.type == CosineType::IV);
    const std::int64_t i = turned ? n - 1 - j : j;
    if (i >= a_.given) return 0;
    T x = line[i * a_.in_stride];
    if (!cosine_ && a_.type == CosineType::II && i % 2 != 0) x = -x;
    const bool end =
        (a_.type == CosineType::III && j == 0) || (a_.type == CosineType::I && cosine_ && (j == 0 || j == n - 1));
    return end && a_.orthogonalize ? x * std::numbers::sqrt2_v<T> : x;
  }
  void store(T* line, std::int64_t k, T y) const {
    const std::int64_t n = a_.n;
    const bool end =
        (a_.type == CosineType::II && k == 0) || (a_.type == CosineType::I && cosine_ && (k == 0 || k == n - 1));
    if (end && a_.orthogonalize) y *= std::numbers::sqrt2_v<T> / 2;
    if (!cosine_ && a_.type != CosineType::I && a_.type != CosineType::II && k % 2 != 0) y = -y;
    line[(!cosine_ && a_.type == CosineType::II ? n - 1 - k : k) * a_.out_stride] = y * static_cast<T>(a_.factor);
  }
  [[nodiscard]] const T* input(std::int64_t b) const { return static_cast<const T*>(a_.in) + place(b, a_.in_batch); }
  [[nodiscard]] T* output(std::int64_t b) const { return static_cast<T*>(a_.out) + place(b, a_.out_batch); }

 private:
  [[nodiscard]] std::int64_t place(std::int64_t b, const Strides& strides) const {
    std::int64_t offset = 0;
    for (std::size_t d = strides.size(); d-- > 0; b /= a_.batch[d]) offset += b % a_.batch[d] * strides[d];
    return offset;
  }
  const CosineArgs& a_;
  bool cosine_;
};

template <class T>
std::vector<std::complex<T>> roots(std::int64_t count, std::int64_t step, std::int64_t first, std::int64_t n) {
  std::vector<std::complex<T>> w(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) w[static_cast<std::size_t>(k)] = root<T>(first + step * k, n);
  return w;
}
template <class T> std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T> class Transform {
 public:
  using C = std::complex<T>;
  Transform(const Executor& e, const CosineArgs& a) : e_(e), a_(a), lines_(a), n_(a.n) {
    count_ = element_count(a.batch);
    // Chunks of lines that make about 4 MiB of temporaries.
    chunk_ = std::min(
        count_, std::max<std::int64_t>((std::int64_t{4} << 20) / (4 * n_ * static_cast<std::int64_t>(sizeof(T))), 1));
  }
  void run() const {
    switch (a_.type) {
      case CosineType::I:
        return a_.wave == Wave::Cosine ? even_extension() : odd_extension();
      case CosineType::II:
        return second();
      case CosineType::III:
        return third();
      case CosineType::IV:
        return n_ % 2 == 0 ? fourth_even() : fourth_odd();
    }
  }

 private:
  [[nodiscard]] Plan<T> plan(Kind kind, std::int64_t points, std::int64_t batch) const {
    const Direction direction = kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
    const Description d = dense(kind, direction, {points}, {.batch = batch});
    return plan_for<T>(e_, d, a_.cache);
  }
  // before(input line, in) for every line of a chunk, the transform, after(out, output line).
  template <class In, class Out, class Before, class After>
  void chunks(Kind kind, std::int64_t points, std::int64_t in_points, std::int64_t out_points, const Before& before,
              const After& after) const {
    const Array<In> in(e_, {chunk_, in_points});
    const Array<Out> out(e_, {chunk_, out_points});
    const Plan<T> whole = plan(kind, points, chunk_);
    for (std::int64_t first = 0; first < count_; first += chunk_) {
      const std::int64_t size = std::min(chunk_, count_ - first);
      for_rows(size, size * n_, [&](std::int64_t i) { before(lines_.input(first + i), in.data() + i * in_points); });
      (size == chunk_ ? whole : plan(kind, points, size)).execute(View<const In>(in.view()), out.view());
      for_rows(size, size * n_, [&](std::int64_t i) { after(out.data() + i * out_points, lines_.output(first + i)); });
    }
  }

  void even_extension() const {
    const std::int64_t m = 2 * (n_ - 1);
    chunks<T, C>(
        Kind::RealToComplex, m, m, n_,
        [&](const T* x, T* v) {
          for (std::int64_t j = 0; j < n_; ++j) v[j] = lines_.load(x, j);
          for (std::int64_t j = 1; j < n_ - 1; ++j) v[m - j] = v[j];
        },
        [&](const C* z, T* y) {
          for (std::int64_t k = 0; k < n_; ++k) lines_.store(y, k, z[k].real());
        });
  }
  void odd_extension() const {
    const std::int64_t m = 2 * (n_ + 1);
    chunks<T, C>(
        Kind::RealToComplex, m, m, n_ + 2,
        [&](const T* x, T* v) {
          v[0] = v[n_ + 1] = 0;
          for (std::int64_t j = 0; j < n_; ++j) v[m - 1 - j] = -(v[j + 1] = lines_.load(x, j));
        },
        [&](const C* z, T* y) {
          for (std::int64_t k = 0; k < n_; ++k) lines_.store(y, k, -z[k + 1].imag());
        });
  }
  void second() const {
    const std::int64_t half = n_ / 2;
    const auto w = roots<T>(half + 1, 1, 0, 4 * n_);
    chunks<T, C>(
        Kind::RealToComplex, n_, n_, half + 1,
        [&](const T* x, T* v) {
          for (std::int64_t j = 0; 2 * j < n_; ++j) v[j] = lines_.load(x, 2 * j);
          for (std::int64_t j = 0; 2 * j + 1 < n_; ++j) v[n_ - 1 - j] = lines_.load(x, 2 * j + 1);
        },
        [&](const C* z, T* y) {
          for (std::int64_t k = 0; k <= half; ++k) {
            const C p = times(z[k], w[static_cast<std::size_t>(k)]);
            lines_.store(y, k, 2 * p.real());
            if (k > 0 && k < n_ - k) lines_.store(y, n_ - k, -2 * p.imag());
          }
        });
  }
  void third() const {
    const std::int64_t half = n_ / 2;
    const auto w = roots<T>(half + 1, 1, 0, 4 * n_);
    chunks<C, T>(
        Kind::ComplexToReal, n_, half + 1, n_,
        [&](const T* x, C* v) {
          v[0] = {lines_.load(x, 0), 0};
          for (std::int64_t k = 1; k <= half; ++k) {
            v[k] = times(C(lines_.load(x, k), -lines_.load(x, n_ - k)), std::conj(w[static_cast<std::size_t>(k)]));
          }
        },
        [&](const T* v, T* y) {
          for (std::int64_t j = 0; 2 * j < n_; ++j) lines_.store(y, 2 * j, v[j]);
          for (std::int64_t j = 0; 2 * j + 1 < n_; ++j) lines_.store(y, 2 * j + 1, v[n_ - 1 - j]);
        });
  }
  void fourth_even() const {
    const std::int64_t half = n_ / 2;
    const auto before = roots<T>(half, 2, 0, 4 * n_), after = roots<T>(half, 4, 1, 8 * n_);
    chunks<C, C>(
        Kind::ComplexToComplex, half, half, half,
        [&](const T* x, C* v) {
          for (std::int64_t j = 0; j < half; ++j) {
            v[j] = times(C(lines_.load(x, 2 * j), lines_.load(x, n_ - 1 - 2 * j)), before[static_cast<std::size_t>(j)]);
          }
        },
        [&](const C* z, T* y) {
          for (std::int64_t k = 0; k < half; ++k) {
            const C p = times(z[k], after[static_cast<std::size_t>(k)]);
            lines_.store(y, 2 * k, 2 * p.real());
            lines_.store(y, n_ - 1 - 2 * k, -2 * p.imag());
          }
        });
  }
  void fourth_odd() const {
    const auto before = roots<T>(n_, 1, 0, 4 * n_), after = roots<T>(n_, 2, 1, 8 * n_);
    chunks<C, C>(
        Kind::ComplexToComplex, 2 * n_, 2 * n_, 2 * n_,
        [&](const T* x, C* v) {
          for (std::int64_t j = 0; j < n_; ++j) v[j] = lines_.load(x, j) * before[static_cast<std::size_t>(j)];
          std::fill(v + n_, v + 2 * n_, C(0));
        },
        [&](const C* z, T* y) {
          for (std::int64_t k = 0; k < n_; ++k)
            lines_.store(y, k, 2 * times(z[k], after[static_cast<std::size_t>(k)]).real());
        });
  }

  const Executor& e_;
  const CosineArgs& a_;
  Lines<T> lines_;
  std::int64_t n_, count_ = 0, chunk_ = 1;
};

}  // namespace

void cosine(const Executor& executor, const CosineArgs& args) {
  if (args.real == DType::Float32)
    Transform<float>(executor, args).run();
  else
    Transform<double>(executor, args).run();
}

double cosine_bound(const Executor& executor, const CosineBoundArgs& args) {
  const auto& [real, wave, type, n, count, mode] = args;
  const bool halved = type == CosineType::IV && n % 2 == 0;
  const std::int64_t points = type == CosineType::I
                                  ? std::max<std::int64_t>(2 * (wave == Wave::Cosine ? n - 1 : n + 1), 1)
                              : type == CosineType::IV ? (halved ? n / 2 : 2 * n)
                                                       : n;
  const Kind kind = type == CosineType::IV    ? Kind::ComplexToComplex
                    : type == CosineType::III ? Kind::ComplexToReal
                                              : Kind::RealToComplex;
  const double u = real == DType::Float32 ? 0x1p-24 : 0x1p-53;
  return 2 * fft::plan_bound(executor, dense(kind, Direction::Forward, {points}, {.batch = count}), real, mode) +
         12 * u;
}

}  // namespace trn::fft::host
