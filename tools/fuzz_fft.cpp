// `trnsci fuzz fft`: random plans of trnfft. Lengths to 2^20 with primes, smooth numbers and lengths around the
// planners' thresholds; one to four axes; batches; strides that are padded, permuted and reversed; in place; planar;
// every scale and direction; on the host in float and double, on simulated devices in every mode that they have, exact
// double included.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>

#include <trn/core/error.hpp>

#include "fuzz_driver.hpp"
#include "fuzz_fft.hpp"
#include "options.hpp"

namespace trn::tools::fuzz {

std::string FftCase::text() const {
  static constexpr const char* kPoints[] = {"noise",  "a spike",         "equal points",  "alternating signs",
                                            "a tone", "wide magnitudes", "small numbers", "large numbers",
                                            "zeros"};
  return fmt::format(
      "{} {} {} {} {} scale {} axes {} batch {}{}{}{}{}{}{} of {}{}", fft::name(kind), fft::name(direction),
      executor.name(), is_double ? "float64" : "float32", name(precision.mode()), fft::name(scale), to_string(axes),
      to_string(batch), input == fft::Format::Planar ? " planar in" : "",
      output == fft::Format::Planar ? " planar out" : "", in_place ? " in place" : "", addresses ? " by addresses" : "",
      workspace ? " with workspace" : "", threads > 1 ? fmt::format(" {} threads", threads) : "",
      kPoints[static_cast<int>(points)], special ? " with NaN and infinities" : "");
}

namespace {

struct Arguments {
  Span span;
  std::string executor = "all";
  std::int64_t max_points = std::int64_t{1} << 20, max_device_points = 2048;
};

bool is_prime(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return false;
  }
  return n >= 2;
}
std::int64_t prime_below(std::int64_t n) {
  while (n > 2 && !is_prime(n)) --n;
  return std::max<std::int64_t>(n, 1);
}

// All magnitudes alike, from 1 to `most`.
std::int64_t magnitude(Draw& d, std::int64_t most) {
  return std::min(most, static_cast<std::int64_t>(std::exp2(d.unit() * std::log2(static_cast<double>(most) + 1))));
}

std::int64_t length(Draw& d, std::int64_t most) {
  const std::int64_t n = magnitude(d, most);
  switch (d.below(7)) {
    case 0:
      return n;
    case 1:
      return prime_below(n);
    case 2: {
      const std::int64_t factor = std::min<std::int64_t>(n, 2 + d.below(15));
      return factor * prime_below(n / factor);
    }
    case 3: {
      std::int64_t smooth = 1;
      while (smooth <= n) smooth *= d.pick<std::int64_t>({2, 2, 3, 4, 5, 7, 9, 11, 13, 16});
      return smooth <= most ? smooth : n;
    }
    case 4: {
      std::int64_t power = 1;
      while (2 * power <= n) power *= 2;
      return std::clamp<std::int64_t>(power + d.below(3) - 1, 1, most);
    }
    case 5: {
      // Around the planners' thresholds; 116508 and 131072: lengths of padded convolutions cross 2^18.
      const std::int64_t at = d.pick<std::int64_t>({17, 33, 62, 128, 512, 4096, 8192, 16384, 32768, 65536, 116508,
                                                    131072, 262144, 524288}) +
                              d.below(9) - 4;
      return at <= most ? (d.chance(2) ? at : prime_below(at)) : n;
    }
    default:
      return std::min<std::int64_t>(most, 1 + d.below(64));
  }
}

FftCase draw_case(Draw& d, const Arguments& a) {
  FftCase c;
  const std::string where = a.executor != "all" ? a.executor
                            : d.chance(8)       ? d.pick({"sim:trn1", "sim:trn2", "sim:trn3"})
                                                : "host";
  c.executor = Executor::open(where);
  const bool host = c.executor.family() == Family::Host;
  c.is_double = d.chance(2);
  if (!host) {
    c.precision =
        c.is_double ? Mode::Exact : d.pick({Mode::Native, Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6});
  }
  c.kind = d.pick({fft::Kind::ComplexToComplex, fft::Kind::RealToComplex, fft::Kind::ComplexToReal});
  c.direction = d.chance(2) ? fft::Direction::Forward : fft::Direction::Inverse;
  c.scale = d.pick({fft::Scale::None, fft::Scale::ByLength, fft::Scale::Orthonormal});
  const auto which = d.below(20);
  std::int64_t rest = host ? a.max_points : a.max_device_points;
  for (int axes = which < 12 ? 1 : which < 17 ? 2 : which < 19 ? 3 : 4; axes > 0; --axes) {
    c.axes.push_back(length(d, rest));
    rest = std::max<std::int64_t>(1, rest / c.axes.back());
  }
  for (std::size_t i = c.axes.size(); i > 1; --i)
    std::swap(c.axes[i - 1], c.axes[static_cast<std::size_t>(d.below(static_cast<std::int64_t>(i)))]);
  for (auto dims = d.below(3); dims > 0; --dims) {
    c.batch.push_back(d.chance(60) ? 0 : std::min<std::int64_t>(rest, 1 + d.below(d.chance(4) ? 40 : 6)));
    rest = std::max<std::int64_t>(1, rest / std::max<std::int64_t>(1, c.batch.back()));
  }
  c.in_place = d.chance(4);
  if (d.chance(4) && (!c.in_place || c.kind == fft::Kind::ComplexToComplex)) {
    if (c.kind != fft::Kind::RealToComplex) c.input = fft::Format::Planar;
    if (c.kind != fft::Kind::ComplexToReal) c.output = fft::Format::Planar;
  }
  c.addresses = d.chance(3);
  c.workspace = d.chance(2);
  c.special = d.chance(12);
  c.points = d.chance(2) ? Points::Noise : static_cast<Points>(d.below(9));
  if (host && d.chance(8)) c.threads = 2;
  return c;
}

void run(const Arguments& a) {
  (void)(a.executor == "all" ? Executor::host() : Executor::open(a.executor));
  const std::string command = fmt::format("trnsci fuzz fft --exec {} --max-points {} --max-device-points {}",
                                          a.executor, a.max_points, a.max_device_points);
  drive(a.span, command, [&](std::uint64_t seed, Current& current) {
    Draw draw(seed);
    const FftCase c = draw_case(draw, a);
    current.operation = fmt::format(
        "{} {} {}", fft::name(c.kind),
        c.executor.family() == Family::Host ? (c.is_double ? "float64" : "float32") : name(c.precision.mode()),
        c.executor.name());
    current.what = c.text();
    run_case(c, draw);
  });
}

}  // namespace

void add_fuzz_fft(Command& parent) {
  Command sub = parent.add("fft", "plans of trnfft");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.text("--exec", a->executor, "executor; all: the host, and simulated devices in one case of eight");
  sub.number("--max-points", a->max_points, "points of a batch on the host", 1, std::int64_t{1} << 26);
  sub.number("--max-device-points", a->max_device_points, "and on a device", 1, std::int64_t{1} << 20);
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools::fuzz
