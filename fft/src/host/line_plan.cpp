// Builds the data of the 1-D engines. All trigonometry comes from roots.hpp; spectra of chirps are computed in long
// double and rounded once.
#include "line_plan.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "../long_dft.hpp"
#include "../roots.hpp"
#include "limits.hpp"
#include "line_choice.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

__extension__ using Wide = __int128;

using Long = std::complex<long double>;

}  // namespace

template <class T> Aligned<T> kernel_spectrum(const std::vector<Long>& kernel, double stretches) {
  const std::size_t n = kernel.size();
  const long double scale = (1 - static_cast<long double>(stretches)) / static_cast<long double>(n);
  const std::vector<Long> result = long_dft(kernel);
  Aligned<T> planar(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    planar[k] = static_cast<T>(result[k].real() * scale);
    planar[n + k] = static_cast<T>(result[k].imag() * scale);
  }
  return planar;
}

template Aligned<float> kernel_spectrum<float>(const std::vector<Long>&, double);
template Aligned<double> kernel_spectrum<double>(const std::vector<Long>&, double);

namespace {

template <class T> void put(Aligned<T>& table, std::size_t re, std::size_t im, std::int64_t k, std::int64_t n) {
  const std::complex<T> w = root<T>(k, n);
  table[re] = w.real();
  table[im] = w.imag();
}

template <class T> void add_four_step(LinePlan<T>& plan) {
  const std::int64_t n1 = plan.n1, n2 = plan.n2, v = plan.lanes, columns = ceiling(n2, v);
  const bool factored = plan.n > kWholeTable;
  plan.first = make_passes<T>(n1);
  plan.second = make_passes<T>(n2);
  const std::int64_t tables = factored ? 1 : columns;
  plan.twiddles.resize(static_cast<std::size_t>(tables * n1 * 2 * v));
  for (std::int64_t c = 0; c < tables; ++c)
    for (std::int64_t k = 0; k < n1; ++k)
      for (std::int64_t lane = 0; lane < v; ++lane) {
        const std::size_t at = static_cast<std::size_t>((c * n1 + k) * 2 * v + lane);
        const Long w = long_root((std::min(c * v, n2 - v) + lane) * k, plan.n) - (factored ? 1.0L : 0.0L);
        plan.twiddles[at] = static_cast<T>(w.real());
        plan.twiddles[at + static_cast<std::size_t>(v)] = static_cast<T>(w.imag());
      }
  if (!factored) return;
  plan.block_twiddles.resize(static_cast<std::size_t>(columns * n1 * 4));
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t k = 0; k < n1; ++k) {
      T* const at = plan.block_twiddles.data() + (c * n1 + k) * 4;
      const Long w = long_root(std::min(c * v, n2 - v) * k, plan.n);
      at[0] = static_cast<T>(w.real());
      at[1] = static_cast<T>(w.imag());
      at[2] = static_cast<T>(w.real() - at[0]);
      at[3] = static_cast<T>(w.imag() - at[1]);
    }
}

// w_n^k = c - i s for interleaved numbers: c, c, or `turned` s, -s for the forward transform (codelets-inl.hpp).
template <class T> void add_number(Aligned<T>& table, std::int64_t k, std::int64_t n, bool turned, T sign) {
  const std::complex<T> w = root<T>(k, n);
  table.push_back(turned ? -sign * w.imag() : w.real());
  table.push_back(turned ? sign * w.imag() : w.real());
}

template <class T> void add_steps(LinePlan<T>& plan, const std::vector<int>& radices) {
  const std::int64_t n = plan.n, v = step_functions<T>().numbers;
  plan.run_whole = step_functions<T>().run;
  std::vector<std::size_t> place;  // of the tables, forward and inverse for each step
  for (const T sign : {T(1), T(-1)}) {
    std::int64_t l = 1;
    for (const int r : radices) {
      const std::int64_t m = n / l / r, width = l == 1 ? v : 1;
      place.push_back(plan.twiddles.size());
      for (std::int64_t next = 0; m > 1 && next < m; next += width)
        for (std::int64_t t = 1; t < r; ++t)
          for (const bool turned : {false, true})
            for (std::int64_t i = 0; i < width; ++i)
              add_number(plan.twiddles, (std::min(next, m - width) + i) * t % (r * m), r * m, turned, sign);
      l *= r;
    }
  }
  std::int64_t l = 1;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const StepPlace where = i == 0 ? StepPlace::First : i + 1 < radices.size() ? StepPlace::Middle : StepPlace::Last;
    const T* table = plan.twiddles.data();
    plan.steps.push_back({step_functions<T>().step(radices[i], where),
                          l,
                          n / l / radices[i],
                          {table + place[i], table + place[radices.size() + i]}});
    l *= radices[i];
  }
}

// For each direction, forward first. Of n1 rows of n2 numbers: twiddles [block of columns][k1 = 1 .. n1 - 1][re, turned
// im][vector]. Of n1 lines of a prime: [j = 1 .. h][cos, sin][k = 1 .. h, in whole vectors], and if n1 > 1 twiddles
// likewise, the last block of columns overlapping the one before.
template <class T> void add_whole(LinePlan<T>& plan) {
  const WholeKernel<T> kernel = step_functions<T>().whole(plan.n);
  plan.run_whole = kernel.run;
  const std::int64_t n1 = kernel.n1, n2 = kernel.n2, v = kernel.numbers;
  for (const T sign : {T(1), T(-1)}) {
    for (std::int64_t j = 1; j <= kernel.prime / 2; ++j)
      for (const bool sine : {false, true})
        for (std::int64_t k = 1; k < ceiling(kernel.prime / 2, v) * v + 1; ++k) {
          const std::complex<T> w = root<T>(j * k % n2, n2);
          plan.twiddles.insert(plan.twiddles.end(), 2, sine ? -w.imag() : w.real());
        }
    for (std::int64_t c = 0; n1 > 1 && n2 > 1 && c < n2; c += v)
      for (std::int64_t k = 1; k < n1; ++k)
        for (const bool turned : {false, true})
          for (std::int64_t i = 0; i < v; ++i)
            add_number(plan.twiddles, ((kernel.prime ? std::min(c, n2 - v) : c) + i) * k % plan.n, plan.n, turned,
                       sign);
  }
}

template <class T> void add_woven(LinePlan<T>& plan) {
  const std::int64_t v = step_functions<T>().numbers;
  plan.run_columns = step_functions<T>().woven_columns(plan.n1);
  plan.twiddles.reserve(static_cast<std::size_t>(2 * ceiling(plan.n2, v) * (plan.n1 - 1) * v));
  for (std::int64_t next = 0; next < plan.n2; next += v)
    for (std::int64_t t = 1; t < plan.n1; ++t)
      for (std::int64_t i = 0; i < v; ++i) {
        const std::complex<T> w = root<T>((std::min(next, plan.n2 - v) + i) * t, plan.n);
        plan.twiddles.push_back(w.real());
        plan.twiddles.push_back(-w.imag());
      }
}

template <class T> void add_rader(LinePlan<T>& plan) {
  const std::int64_t p = plan.n, length = p - 1, g = primitive_root(p), inverse = power_modulo(g, p - 2, p);
  plan.gather.resize(static_cast<std::size_t>(length));
  plan.scatter.resize(static_cast<std::size_t>(length));
  std::vector<Long> kernel(static_cast<std::size_t>(length));
  for (std::int64_t q = 0, up = 1, down = 1; q < length; ++q, up = up * g % p, down = down * inverse % p) {
    plan.gather[static_cast<std::size_t>(q)] = static_cast<std::int32_t>(up);
    plan.scatter[static_cast<std::size_t>(q)] = static_cast<std::int32_t>(down);
    kernel[static_cast<std::size_t>(q)] = long_root(down, p);
  }
  plan.spectrum = kernel_spectrum<T>(kernel, 2 * stretch(*plan.inner));
}

// jk = (j^2 + k^2 - (k - j)^2)/2: X_k = c_k sum_j (x_j c_j) conj(c_(k-j)), c_j = exp(-pi i j^2/n), j^2 reduced modulo
// 2n.
template <class T> void add_bluestein(LinePlan<T>& plan, std::int64_t length) {
  const std::int64_t n = plan.n;
  plan.chirp.resize(static_cast<std::size_t>(2 * n));
  std::vector<Long> kernel(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t square = static_cast<std::int64_t>(static_cast<Wide>(j) * j % (2 * n));
    const Long c = long_root(square, 2 * n);
    plan.chirp[static_cast<std::size_t>(j)] = static_cast<T>(c.real());
    plan.chirp[static_cast<std::size_t>(n + j)] = static_cast<T>(c.imag());
    kernel[static_cast<std::size_t>(j)] = std::conj(c);
    if (j > 0) kernel[static_cast<std::size_t>(length - j)] = std::conj(c);
  }
  plan.spectrum = kernel_spectrum<T>(kernel, 2 * stretch(*plan.inner));
}

// Relative errors of steps add, for every step is a multiple of a unitary matrix; a twiddle is rounded (u) and
// multiplied (2 u), twice that if factored.
//   Rader      The kernel's spectrum has modulus sqrt(p), or 1: two inner transforms and a product, and the sum, which
//     is one point of the first.
//   Bluestein  likewise, with two chirps; the padded kernel's spectrum is not flat, and its largest modulus over
//     sqrt(n) multiplies the errors.
template <class T> double line_bound(const LinePlan<T>& plan) {
  const double u = std::numeric_limits<T>::epsilon() / 2;
  switch (plan.kind) {
    case LineKind::Scalar:
      return direct_sum_bound<T>(plan.n);
    case LineKind::Whole:
    case LineKind::Steps:
    case LineKind::FourStep:
      return direct_sum_bound<T>(plan.n) + 6 * u;
    case LineKind::Split:
    case LineKind::Woven:
      return direct_sum_bound<T>(plan.n1) + plan.inner->bound + 4 * u;
    case LineKind::Rader:
      return 3 * plan.inner->bound + 10 * u;
    case LineKind::Bluestein: {
      double largest = 0;
      for (std::int64_t k = 0; k < plan.n2; ++k)
        largest =
            std::max(largest, std::hypot(static_cast<double>(plan.spectrum[static_cast<std::size_t>(k)]),
                                         static_cast<double>(plan.spectrum[static_cast<std::size_t>(plan.n2 + k)])));
      const double gain = largest * static_cast<double>(plan.n2) / std::sqrt(static_cast<double>(plan.n));
      return gain * (2 * plan.inner->bound + 4 * u) + 8 * u;
    }
    case LineKind::Wide:
      return u + plan.wide->bound * (1 + u);
  }
  return 0;
}

template <class T> std::shared_ptr<const LinePlan<T>> build(std::int64_t n, Chooser& chooser) {
  const Choice choice = chooser.best(n);
  auto plan = std::make_shared<LinePlan<T>>();
  plan->kind = choice.kind;
  plan->n = n;
  plan->n1 = choice.n1;
  plan->n2 = choice.n2;
  plan->lanes = choice.lanes;
  plan->cost = choice.cost;
  switch (choice.kind) {
    case LineKind::Whole:
      add_whole(*plan);
      break;
    case LineKind::Steps:
      add_steps(*plan, choice.radices);
      break;
    case LineKind::Woven:
      plan->inner = build<T>(choice.n2, chooser);
      add_woven(*plan);
      break;
    case LineKind::Scalar:
      plan->first = make_passes<T>(n);
      break;
    case LineKind::FourStep:
      add_four_step(*plan);
      break;
    case LineKind::Split:
      plan->inner = build<T>(choice.n2, chooser);
      plan->first = make_passes<T>(choice.n1);
      plan->twiddles.resize(static_cast<std::size_t>(2 * n));
      for (std::int64_t j = 0; j < choice.n1; ++j)
        for (std::int64_t k = 0; k < choice.n2; ++k) {
          const std::size_t at = static_cast<std::size_t>(2 * j * choice.n2 + k);
          put(plan->twiddles, at, at + static_cast<std::size_t>(choice.n2), j * k, n);
        }
      break;
    case LineKind::Rader:
      plan->inner = build<T>(choice.n2, chooser);
      add_rader(*plan);
      break;
    case LineKind::Bluestein:
      plan->inner = build<T>(choice.n2, chooser);
      add_bluestein(*plan, choice.n2);
      break;
    case LineKind::Wide:
      plan->wide = make_line_plan<double>(n, widest_lanes<double>());
      plan->run_wide = line_functions<double>().one_line;
      break;
  }
  plan->bound = line_bound(*plan);
  return plan;
}

}  // namespace

template <class T> Passes<T> make_passes(std::int64_t n) {
  Passes<T> result;
  result.n = n;
  std::int64_t l = 1;
  for (const int r : radices(n)) {
    typename Passes<T>::Pass pass{r, l, n / l / r, result.table.size(), 0};
    if (pass.m > 1)
      for (std::int64_t q = 0; q < pass.m; ++q)
        for (std::int64_t t = 1; t < r; ++t) {
          const std::complex<T> w = root<T>(q * t, r * pass.m);
          result.table.push_back(w.real());
          result.table.push_back(w.imag());
        }
    pass.constants = result.table.size();
    if (r > 16)
      for (std::int64_t k = 1; k <= r / 2; ++k)
        for (std::int64_t j = 1; j <= r / 2; ++j) {
          const std::complex<T> w = root<T>(j * k, r);
          result.table.push_back(w.real());
          result.table.push_back(-w.imag());
        }
    result.passes.push_back(pass);
    l *= r;
  }
  return result;
}

template <class T> std::int64_t LinePlan<T>::shared_reals() const {
  switch (kind) {
    case LineKind::Whole:
    case LineKind::Steps:
    case LineKind::Scalar:
      return 0;
    case LineKind::Woven:
      return n1 * woven().pitch + 2 * round_up(n + 16);
    case LineKind::FourStep:
      return ceiling(n1, lanes) * n2 * 2 * lanes + 2 * round_up(n + 16);
    case LineKind::Split:
      return 2 * n1 * round_up(n2) + 2 * round_up(n + 16) + inner->shared_reals();
    case LineKind::Rader:
    case LineKind::Bluestein:
      return 4 * round_up(n2 + 16) + inner->shared_reals();
    case LineKind::Wide:
      return 2 * (2 * round_up(n + 16) + wide->shared_reals());
  }
  return 0;
}

// Of Wide: two floats to a double.
template <class T> std::int64_t LinePlan<T>::private_reals() const {
  switch (kind) {
    case LineKind::Whole:
    case LineKind::Steps:
      return 0;
    case LineKind::Woven:
      return inner->shared_reals() + inner->private_reals();
    case LineKind::Scalar:
      return round_up(4 * n);
    case LineKind::FourStep:
      return 2 * round_up(2 * lanes * std::max(n1, n2)) + (block_twiddles.empty() ? 0 : round_up(2 * lanes * n1));
    case LineKind::Split:
      return std::max(2 * round_up(2 * lanes * n1), inner->private_reals());
    case LineKind::Rader:
    case LineKind::Bluestein:
      return inner->private_reals();
    case LineKind::Wide:
      return 2 * wide->private_reals();
  }
  return 0;
}

template <class T> std::shared_ptr<const LinePlan<T>> make_line_plan(std::int64_t n, int max_lanes) {
  Chooser chooser(max_lanes, sizeof(T));
  return build<T>(n, chooser);
}

template Passes<float> make_passes<float>(std::int64_t);
template Passes<double> make_passes<double>(std::int64_t);
template struct LinePlan<float>;
template struct LinePlan<double>;
template std::shared_ptr<const LinePlan<float>> make_line_plan<float>(std::int64_t, int);
template std::shared_ptr<const LinePlan<double>> make_line_plan<double>(std::int64_t, int);

}  // namespace trn::fft::host
