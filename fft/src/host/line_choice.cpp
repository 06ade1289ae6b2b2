// The costs of line_choice.hpp. Their factors fit times measured for the ways on AVX-512, and on AVX2 where it says so.
#include "line_choice.hpp"

#include "limits.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

void offer(Choice& best, const Choice& other) {
  if (other.cost < best.cost) best = other;
}

template <class T> double cost_of_whole(std::int64_t n) {
  const WholeKernel<T> kernel = step_functions<T>().whole(n);
  return kernel.run ? 0.6 * kernel.cost : 0;
}

}  // namespace

double Chooser::whole_cost(std::int64_t n) const {
  return real_bytes_ == sizeof(float) ? cost_of_whole<float>(n) : cost_of_whole<double>(n);
}
double Chooser::weight(int lanes) const {
  return lanes * real_bytes_ >= 64 ? 1.0 : lanes * real_bytes_ >= 32 ? 0.6 : 0.5;
}

Choice Chooser::best(std::int64_t n) {
  if (const auto found = known_.find(n); found != known_.end()) return found->second;
  Choice choice;
  const std::int64_t smooth = smooth_part(n), rest = n / smooth;
  if (const double whole = whole_cost(n); whole > 0) {
    offer(choice, {whole, LineKind::Whole});
  } else if (offer_steps(choice, n)) {  // measured to be faster than the ways below wherever there are both
  } else if (rest == 1) {
    if (has_codelet(n)) offer(choice, {0.5 * codelet_cost(n) + 3 * static_cast<double>(n) + 5, LineKind::Scalar});
    offer(choice, {0.5 * passes_cost(n) + 30, LineKind::Scalar});
    offer_four_steps(choice, n);
    offer_woven(choice, n);
    if (const std::vector<std::int64_t> p = prime_factors(n); n >= 17 && p.back() >= 17) {
      if (p.back() == n)
        offer_rader(choice, n);
      else
        offer_split(choice, n / p.back(), p.back());
    }
  } else {
    if (smooth > 1) offer_split(choice, smooth, rest);
    if (smooth == 1 && prime_factors(n).size() == 1) offer_rader(choice, n);
    offer_bluestein(choice, n);
  }
  if (real_bytes_ == sizeof(float) && choice.n2 >= kLongConvolution &&
      (choice.kind == LineKind::Rader || choice.kind == LineKind::Bluestein)) {
    choice.kind = LineKind::Wide;
    choice.cost *= 2;
  }
  known_[n] = choice;
  return choice;
}

// The large tables: twiddles of passes and steps, chirps and spectra; spectra are computed from three arrays of complex
// long double.
double Chooser::bytes(std::int64_t n) {
  const Choice choice = best(n);
  const double points = static_cast<double>(n), real = static_cast<double>(real_bytes_),
               length = static_cast<double>(choice.n2), spectrum = 2 * real * length + 96 * length;
  switch (choice.kind) {
    case LineKind::Whole:
    case LineKind::Steps:
    case LineKind::Scalar:
      return 4 * points * real;
    case LineKind::Woven:
      return 2 * points * real + bytes(choice.n2);
    case LineKind::FourStep:
      return n > kWholeTable ? 4 * points * real / choice.lanes : 2 * points * real;
    case LineKind::Split:
      return 2 * points * real + bytes(choice.n2);
    case LineKind::Rader:
      return 8 * points + spectrum + bytes(choice.n2);
    case LineKind::Bluestein:
      return 2 * points * real + spectrum + bytes(choice.n2);
    case LineKind::Wide:
      return Chooser(widest_lanes<double>(), sizeof(double)).bytes(n);
  }
  return 0;
}

// How much more a pass of radix r costs with vectors shorter than 64 bytes, against the same pass with AVX-512. Two
// things count from 9 legs on.
//   Sets of the cache. The legs lie n/r numbers apart. Those a multiple of 4 KiB apart fall into one set of the first
//     cache, which holds 8 lines, and a line is gone before its second half is asked for: 4096 doubles by 16 x 16 x 16
//     took twice as long with AVX2 as by 8 x 8 x 8 x 8.
//   Registers. There are 16. What a codelet spills costs least in the first pass, which is loads and transpositions,
//     and most where twiddles wait as well: 2048 by 8 x 16 x 16 took 1.13 times as long as by 16 x 8 x 16. The factors
//     fit times of 34 lengths.
double Chooser::narrow_factor(std::int64_t leg, int radix, int numbers, bool is_first, bool is_last) const {
  constexpr std::int64_t kLine = 64, kPeriod = 4096;
  constexpr int kWays = 8;
  const std::int64_t number = 2 * real_bytes_;
  if (radix <= kWays || numbers * number >= kLine) return 1;
  return (leg * number % kPeriod == 0 ? 2 : 1) * (is_first ? 1 : is_last ? 1.05 : 1.15);
}

// Passes on interleaved vectors: every order of every factorisation into two to four codelets. The first pass
// transposes, the last has no twiddles; l numbers that do not fill their vectors cost as much as if they did, and
// masks.
bool Chooser::offer_steps(Choice& choice, std::int64_t n) const {
  const int numbers = real_bytes_ == sizeof(float) ? step_functions<float>().numbers : step_functions<double>().numbers;
  if (numbers == 0 || n > kLongestSteps) return false;
  const auto search = [&](const auto& self, std::int64_t l, double cost, std::vector<int>& radices) -> void {
    const std::int64_t rest = n / l;
    for (int r = 2; r <= 16; ++r) {
      if (rest % r != 0 || !has_codelet(r)) continue;
      const std::int64_t m = rest / r, vectors = ceiling(l, numbers);
      const double points = r, cut = l % numbers == 0 ? 0 : 2 * points;
      const double work = narrow_factor(n / r, r, numbers, l == 1, m == 1) * (pairs_codelet_cost(r) + 2 * points);
      if (l == 1 && m < numbers) continue;
      if (l > 1 && m > 1 && radices.size() > 2) continue;
      radices.push_back(r);
      if (l == 1) {
        const double turned = static_cast<double>(ceiling(r, numbers)) * numbers;
        self(self, r, cost + 20 + static_cast<double>(ceiling(m, numbers)) * (work + 4 * points + 4 * turned), radices);
      } else if (m > 1) {
        self(self, l * r,
             cost + 20 + static_cast<double>(m) * (static_cast<double>(vectors) * (work + 5 * points) + cut), radices);
      } else {
        const double total = cost + 20 + static_cast<double>(vectors) * work + cut;
        if (total < choice.cost) choice = {total, LineKind::Steps, 1, 1, 1, radices};
      }
      radices.pop_back();
    }
  };
  std::vector<int> radices;
  search(search, 1, 20, radices);
  return choice.kind == LineKind::Steps;
}

// Passes on a block of n rows: slower where two such blocks leave the first or the second cache.
double Chooser::block_cost(std::int64_t n, int lanes) const {
  const std::int64_t bytes = 4 * n * lanes * real_bytes_;
  const double cache = bytes <= 32 << 10 ? 1.0 : bytes <= 768 << 10 ? 1.25 : 2.0;
  return cache * passes_cost(n) + 30 * static_cast<double>(radices(n).size());
}

void Chooser::offer_four_steps(Choice& choice, std::int64_t n) const {
  for (int lanes = max_lanes_; lanes * real_bytes_ >= 16 && 2 * lanes >= max_lanes_; lanes /= 2) {
    for (std::int64_t n1 = lanes; n1 * lanes <= n && n1 <= kLongestColumn; ++n1) {
      if (n % n1 != 0) continue;
      const std::int64_t n2 = n / n1, columns = ceiling(n2, lanes), rows = ceiling(n1, lanes);
      const double work = static_cast<double>(columns) * (block_cost(n1, lanes) + 5 * static_cast<double>(n1)) +
                          static_cast<double>(rows) * block_cost(n2, lanes) +
                          10.0 * static_cast<double>(columns * rows * lanes);
      const double copies =
          lanes == max_lanes_ ? 0 : 10.0 * static_cast<double>(n) / max_lanes_;  // narrow vectors need planar lines
      offer(choice, {(lanes == max_lanes_ ? 1.0 : 0.7) * work + copies + 40, LineKind::FourStep, n1, n2, lanes});
    }
  }
}

// Interleaved vectors are cheaper than the costs of steps and woven lines say beside those of four steps, most with the
// 16 registers of short vectors. The factors fit times of both ways for 12 lengths from 8192 to 131072 in both
// precisions.
void Chooser::offer_woven(Choice& choice, std::int64_t n) {
  const int numbers = real_bytes_ == sizeof(float) ? step_functions<float>().numbers : step_functions<double>().numbers;
  if (numbers == 0) return;
  const double factor = numbers * 2 * real_bytes_ >= 64 ? 0.73 : 0.62;
  for (int r = std::max(numbers, 2); r <= 16; ++r) {
    if (n % r != 0 || !has_codelet(r) || n / r < numbers) continue;
    const std::int64_t m = n / r;
    const Choice inner = best(m);
    if (!inner.is_whole() && inner.kind != LineKind::Woven) continue;
    const double points = r, vectors = static_cast<double>(ceiling(m, numbers)),
                 work = narrow_factor(m, r, numbers, true, false) * (pairs_codelet_cost(r) + 2 * points),
                 own = 20 * points + vectors * (work + 13 * points) + 40;
    offer(choice, {factor * own + (inner.is_whole() ? factor : 1) * points * inner.cost, LineKind::Woven, r, m, 1});
  }
}

void Chooser::offer_split(Choice& choice, std::int64_t n1, std::int64_t n2) {
  int lanes = max_lanes_;
  if (lanes > n2) lanes /= 2;
  if (lanes > n2 || lanes * real_bytes_ < 16) return;
  const double columns = static_cast<double>(ceiling(n2, lanes));
  // 5 a point: the lines' points are far apart.
  const double cost = static_cast<double>(n1) * (best(n2).cost + 20 + 5 * static_cast<double>(n2)) +
                      weight(lanes) * columns * (block_cost(n1, lanes) + 8 * static_cast<double>(n1));
  offer(choice, {cost, LineKind::Split, n1, n2, lanes});
}

void Chooser::offer_rader(Choice& choice, std::int64_t n) {
  if (n > 2 && n < kLongestRader && is_smooth(n - 1))
    offer(choice, {2 * best(n - 1).cost + 4.0 * static_cast<double>(n) + 60, LineKind::Rader, 1, n - 1, 1});
}

void Chooser::offer_bluestein(Choice& choice, std::int64_t n) {
  for (const std::int64_t length : convolution_lengths(2 * n - 1))
    offer(choice, {2 * best(length).cost + 12.0 * static_cast<double>(length) / max_lanes_ + 60, LineKind::Bluestein, 1,
                   length, 1});
}

}  // namespace trn::fft::host
