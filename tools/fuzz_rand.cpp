// `trnsci fuzz rand`: every draw of trnrand with random generators, positions, parameters, pieces and views; see
// fuzz_rand.hpp for what is checked.
#include "fuzz_rand.hpp"

#include <cstdlib>
#include <memory>

#include <trn/rand/quasi.hpp>

namespace trn::tools::fuzz {

namespace rand {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kWildOneIn = 12;

double wild_number(Case& c) {
  c.wild = true;
  const double x = c.random.pick({kNaN,       kInfinity, -kInfinity, 0.0,    -0.0,
                                  -1.0,       5e-324,    -5e-324,    1e-310, 1e-300,
                                  0x1p-149,   0x1p-126,  1e300,      -1e300, 1.7976931348623157e308,
                                  3.5e38,     3.4e38,    1e-40,      0x1p53, 1 + 0x1p-52,
                                  1 - 0x1p-53});
  if (std::isnan(x)) c.refused = true;
  return x;
}

}  // namespace

double Case::real(const char* name, double low, double high) {
  const double x = random.chance(kWildOneIn) ? wild_number(*this) : random.uniform(low, high);
  say("{} {}", name, x);
  return x;
}
double Case::positive(const char* name, double low, double high) {
  const double x =
      random.chance(kWildOneIn) ? wild_number(*this) : std::exp(random.uniform(std::log(low), std::log(high)));
  if (x < 0) refused = true;
  say("{} {}", name, x);
  return x;
}
double Case::probability(const char* name) {
  double x = random.chance(4) ? random.pick({0.0, 1.0, 0.5, 1e-9, 1 - 1e-9}) : random.uniform(0, 1);
  if (random.chance(kWildOneIn)) x = wild_number(*this);
  if (x < 0 || x > 1) refused = true;
  if (x == 0 || x == 1) wild = true;
  say("{} {}", name, x);
  return x;
}
std::int64_t Case::count(const char* name, std::int64_t most) {
  std::int64_t x = random.chance(8) ? random.pick<std::int64_t>({0, 1}) : random.size(most);
  if (random.chance(kWildOneIn)) {
    wild = true;
    x = random.pick<std::int64_t>({-1, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(), (std::int64_t{1} << 31) - 1,
                                   std::int64_t{1} << 31, std::int64_t{1} << 32, 0});
    if (x < 0) refused = true;
  }
  say("{} {}", name, x);
  return x;
}

std::uint64_t Case::position(std::uint64_t words) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t mark =
      random.pick<std::uint64_t>({0, 4, 4096, 8192, 65536, 81920, 2 * 81920, 262144, 78 * 65536, std::uint64_t{1} << 32,
                                  std::uint64_t{1} << 34, std::uint64_t{1} << 48, std::uint64_t{1} << 63});
  const auto near = static_cast<std::uint64_t>(random.below(1000));
  const std::uint64_t last = kLast - words;  // there is room up to here
  switch (random.below(4)) {
    case 0:
      return static_cast<std::uint64_t>(random.size(1'000'000)) - 1;
    case 1:
      return std::min(last, mark >= near ? mark - near : mark + near);
    case 2:
      return last - near;
    default:
      return random.word() % last;
  }
}

bool runs_on_devices(Algorithm a) {
  return a == Algorithm::Philox4x32_10 || a == Algorithm::Threefry4x32_20 || a == Algorithm::Sobol32 ||
         a == Algorithm::ScrambledSobol32 || a == Algorithm::Sobol64 || a == Algorithm::ScrambledSobol64;
}

State random_state(Case& c, Source source, std::int64_t values) {
  State s;
  Random& r = c.random;
  if (source == Source::Points) {
    s.algorithm = r.pick({Algorithm::Sobol32, Algorithm::ScrambledSobol32, Algorithm::OwenSobol32, Algorithm::Sobol64,
                          Algorithm::ScrambledSobol64, Algorithm::Halton, Algorithm::ScrambledHalton});
    s.dimensions =
        static_cast<std::uint32_t>(r.chance(8) ? r.size(trn::rand::max_dimensions(s.algorithm)) : 1 + r.below(6));
    const bool seeded = s.algorithm == Algorithm::OwenSobol32 || s.algorithm == Algorithm::ScrambledHalton;
    s.seed = seeded ? r.word() : 0;
    const std::uint64_t last = trn::rand::last_position(s.algorithm) - static_cast<std::uint64_t>(values);
    s.position = r.chance(3)   ? last - static_cast<std::uint64_t>(r.below(300))
                 : r.chance(2) ? static_cast<std::uint64_t>(r.size(70'000))
                               : r.word() % last;
    return s;
  }
  s.algorithm = source == Source::Element ? r.pick({Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20})
                                          : r.pick({Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20,
                                                    Algorithm::Xorwow, Algorithm::Mrg32k3a, Algorithm::Mt19937});
  s.seed = r.chance(4) ? r.pick<std::uint64_t>({0, 1, 0xffffffff, 0x100000000, ~std::uint64_t{0}}) : r.word();
  const int stream_bits = s.algorithm == Algorithm::Threefry4x32_20 ? 64
                          : s.algorithm == Algorithm::Mrg32k3a      ? 40
                          : s.algorithm == Algorithm::Mt19937       ? 0
                                                                    : 48;
  const std::uint64_t streams = stream_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << stream_bits) - 1;
  s.stream = r.chance(2) ? 0 : r.chance(4) ? streams : r.word() & streams;
  if (s.algorithm == Algorithm::Mt19937)
    s.seed = static_cast<std::uint64_t>(r.below(4));  // the states of a new seed take long
  s.position = c.position(static_cast<std::uint64_t>(2 * values) + 4);
  s.origin = r.chance(2)   ? s.position
             : r.chance(2) ? s.position - std::min<std::uint64_t>(s.position, static_cast<std::uint64_t>(r.below(100)))
                           : 0;
  if (s.algorithm != Algorithm::Threefry4x32_20 && r.chance(3)) s.ordering = trn::rand::Ordering::Legacy;
  return s;
}

Layout random_layout(Case& c, std::int64_t n, std::int64_t row) {
  Random& r = c.random;
  Layout l;
  // Rows stay the last extent; what is before them is split where it divides.
  std::int64_t rest = n / row;
  for (const std::int64_t factor : {2, 3, 5}) {
    if (rest % factor == 0 && r.chance(2)) {
      l.shape.push_back(factor);
      rest /= factor;
    }
  }
  l.shape.push_back(rest);
  if (row > 1) l.shape.push_back(row);
  for (int ones = static_cast<int>(r.below(3)); ones > 0; --ones)
    l.shape.insert(l.shape.begin() + static_cast<std::ptrdiff_t>(r.index(l.shape.size() + (row > 1 ? 0 : 1))), 1);
  std::vector<std::size_t> order(l.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (r.chance(2))
    std::shuffle(order.begin(), order.end(), std::mt19937_64(r.word()));
  else
    std::reverse(order.begin(), order.end());
  l.strides.resize(l.shape.size());
  std::int64_t stride = r.chance(2) ? 1 : 1 + r.below(3);
  std::int64_t low = 0, high = 0;
  for (const std::size_t k : order) {
    if (l.shape[k] == 1) {
      l.strides[k] = r.pick<std::int64_t>(
          {0, 1, -1, 17, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
      continue;
    }
    l.strides[k] = r.chance(4) ? -stride : stride;
    (l.strides[k] < 0 ? low : high) += l.strides[k] * (l.shape[k] - 1);
    stride = stride * l.shape[k] + (r.chance(3) ? r.below(4) : 0);
  }
  l.offset = 4 - low;
  l.size = l.offset + high + 5;
  return l;
}

}  // namespace rand

namespace {

struct Arguments {
  Span span;
  std::string only;
};

void run(const Arguments& a) {
  std::vector<rand::Row> rows;
  for (const auto& group : {rand::words(), rand::transforms(), rand::distributions()}) {
    for (const rand::Row& row : group) {
      if (a.only.empty() || a.only == row.name) rows.push_back(row);
    }
  }
  require(!rows.empty(), "fuzz: no draw '{}'", a.only);
  drive(a.span, "trnsci fuzz rand" + (a.only.empty() ? "" : " --only " + a.only),
        [&](std::uint64_t seed, Current& current) {
          rand::Case c{Random(seed), current};
          const rand::Row& row = rows[c.random.index(rows.size())];
          current.operation = row.name;
          current.what = row.name;
          row.run(c);
        });
}

}  // namespace

void add_fuzz_rand(Command& parent) {
  Command sub = parent.add("rand", "every draw of trnrand: pieces, views, parameters, devices");
  auto a = std::make_shared<Arguments>();
  add_span(sub, a->span);
  sub.text("--only", a->only, "one draw, as in rand.gamma without the prefix");
  sub.run([a] { run(*a); });
}

}  // namespace trn::tools::fuzz
