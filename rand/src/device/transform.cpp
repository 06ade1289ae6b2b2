// The device kernel of the distributions with a fixed number of words: words made in SBUF and transformed there.
//
// Layout as in fill.cpp: partition p of a tile holds the blocks p C .. p C + C - 1, so it stores 4 C consecutive
// values. A block is two pairs (x, y), and operation for operation the engines do what host/transforms.cpp does in
// float:
//
//   normal, per pair                                  Vector  GpSimd  Scalar    cycles per element
//     s = y 2^-32 + x                                    1
//     k = y & m, k' = (y ^ m) & m, two signs from y      2
//     r = sqrt(-2 ln(s (1 - 2^-24) 2^-32 + 2^-65))                       2
//     sin((k + 1/2) c), sin((k' + 1/2) c)                                2      c = pi/2 2^-22; k' gives the cosine
//     sign | r, for both                                 2
//     times the sine, times the cosine                           4
//     times scale plus location, both                                    2
//
// Per block of four values, on trn2: Vector 10 cycles = 10.4 ns beside the 156 ns of Philox, GpSimd 8 cycles = 6.7 ns
// beside 133 ns, Scalar 12 cycles = 10 ns beside 50 ns. What must not happen is that the generator waits for the chain
// ln, sqrt, sine, product: engines work in program order. So the transform runs one tile behind: its instructions are
// recorded between the rounds of the next tile (WordTiles::next), and every engine always has rounds to do.
//
// The others, per value, Vector and Scalar cycles: exponential 1 and 2, weibull 1 and 4, laplace 2.5 and 2 (a sign from
// the partner's word), cauchy 4 and 5 (u; sin(pi/2 (1 - u)) / sin(pi/2 u), with 1 - u exact where it is small; a sign),
// bernoulli 3.5 and 0: x < t for numbers of four 16-bit digits, from the last digit up, c = (digit - t) < c, the
// difference exact in fp32.
//
// Tables: ln, sqrt and sin are loaded once per tile each, 3.8 us of the Scalar Engine, which has more than half its
// time left. Documented domains: ln wants at least 2^-64, reached but for x = y = 0; sqrt at least 2^-116, and u < 1
// keeps it above 2^-23.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <trn/core/array.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/word_tiles.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "algorithms.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

using namespace tile;
using blocks::ceil_div;

constexpr std::int64_t kWords = 4;  // per block
constexpr std::int64_t kColumnStep = 128;
constexpr std::int64_t kSmallTiles = 4096;       // bytes per partition for parameters, constants and what packing loses
constexpr std::int64_t kRadii = 2, kAngles = 4;  // planes of the normal beside the values
constexpr double kAngleMask = (1 << 22) - 1, kSignBit = 2147483648.0;
constexpr float kAngleStep = 0x1.921fb6p0f / (1 << 22);
constexpr float kUniformScale = 0x1.fffffep-33f;  // (1 - 2^-24) 2^-32
constexpr float kQuarterTurn = 0x1.921fb6p0f;
constexpr std::int64_t kLawParameters = 4;

bool is_normal(Law law) { return law == Law::Normal || law == Law::LogNormal; }
bool is_signed(Law law) { return law == Law::Laplace || law == Law::Cauchy; }

std::int64_t whole_columns(Law law, const Machine& machine) {
  const std::int64_t planes = WordTiles::kPlanes + kWords + (is_normal(law) ? kRadii + kAngles : 0) +
                              (is_signed(law) ? kWords : 0) + (law == Law::Cauchy ? kWords : 0);
  const std::int64_t bytes = machine.sbuf_bytes_per_partition - kSmallTiles;
  return bytes / (planes * static_cast<std::int64_t>(sizeof(std::uint32_t))) / kColumnStep * kColumnStep;
}

class TransformKernel {
 public:
  TransformKernel(const TransformShape& shape, const Machine& machine)
      : s_(shape), m_(machine), b_(name_of(shape), machine), columns_(whole_columns(shape.law, machine)) {}

  Program build() {
    const std::int64_t words = fill_parameter_count(s_.algorithm);
    const Access input = b_.input("parameters", DType::UInt32, {words + kLawParameters});
    out_ = b_.output("out", s_.dtype, {s_.count});
    WordTiles tiles(b_, s_.algorithm, input);
    const auto parameter = [&](std::int64_t k) {
      return tiles.parameters()(all, ds(words + k, 1)).view(DType::Float32);
    };
    for (std::int64_t k = 0; k < kLawParameters; ++k) law_[static_cast<std::size_t>(k)] = parameter(k);
    location_ = law_[0];
    scale_ = law_[1];
    shape_ = law_[2];
    if (s_.law != Law::Bernoulli) half_unit_ = constant("half_unit", 0x1p-65);
    if (is_normal(s_.law)) half_step_ = constant("half_step", kAngleStep / 2);

    // Words from the first block's first: the output is the words phase .. phase + count - 1 of them.
    const std::int64_t all_words = s_.phase + s_.count, tile_words = m_.partitions * columns_ * kWords;
    const std::int64_t whole = all_words / tile_words, rest = all_words - whole * tile_words;
    const std::int64_t rest_blocks = ceil_div(rest, kWords), rest_columns = ceil_div(rest_blocks, m_.partitions);
    allocate(whole > 0 ? columns_ : rest_columns);
    Area pending;
    if (whole > 0) {
      tiles.set_shape(m_.partitions, columns_);
      const auto area = [&](const Affine& t, std::int64_t lo) {
        return Area{t * tile_words, m_.partitions, columns_, lo, tile_words};
      };
      tile(tiles, {}, area(0, s_.phase));
      std::int64_t done = 1;
      if (whole > 1 && s_.phase > 0) {  // the first tile begins inside a block: its store is different
        tile(tiles, area(0, s_.phase), area(1, 0));
        done = 2;
      }
      b_.sequential("tile", whole - done,
                    [&](const Affine& i) { tile(tiles, area(i + (done - 1), 0), area(i + done, 0)); });
      pending = area(whole - 1, whole == 1 ? s_.phase : 0);
    }
    if (rest > 0) {
      const Area last{whole * tile_words, ceil_div(rest_blocks, rest_columns), rest_columns, whole == 0 ? s_.phase : 0,
                      rest};
      tiles.set_shape(last.rows, last.columns);
      tile(tiles, pending, last);
      pending = last;
    }
    for (int s = 0; s < WordTiles::kBetween; ++s) stage(pending, s);
    return tile::static_stores(b_.finish());
  }

 private:
  // One tile: its first word's number, its shape, and which of its words are stored, lo .. hi - 1.
  struct Area {
    Affine first = 0;
    std::int64_t rows = 0, columns = 0, lo = 0, hi = 0;
  };

  static std::string name_of(const TransformShape& s) {
    return std::string("rand_") + name(s.law) + (s.algorithm == Algorithm::Philox4x32_10 ? "_philox" : "_threefry");
  }

  Access constant(const char* name, double value) {
    const Access c = b_.sbuf(name, m_.partitions, {1}, DType::Float32);
    b_.memset(c, value);
    return c;
  }

  void allocate(std::int64_t columns) {
    const auto like_values = [&](const char* name, DType dtype) {
      return b_.sbuf(name, m_.partitions, {columns * kWords}, dtype);
    };
    values_ = like_values("values", s_.dtype);
    if (is_signed(s_.law)) signs_ = like_values("signs", DType::UInt32);
    if (s_.law == Law::Cauchy) rest_ = like_values("rest", DType::Float32);
    if (!is_normal(s_.law)) return;
    radius_ = b_.sbuf("radius", m_.partitions, {kRadii, columns}, DType::Float32);
    angle_ = b_.sbuf("angle", m_.partitions, {kAngles, columns}, DType::Float32);
  }

  // Parts of the planes that an area uses.
  Access values(const Area& a) const { return values_(ds(0, a.rows), ds(0, a.columns * kWords)); }
  Access value(const Area& a, std::int64_t w) const { return of_word(values_, a, w); }
  static Access of_word(const Access& x, const Area& a, std::int64_t w) {
    return x(ds(0, a.rows), ds(0, a.columns * kWords)).split(0, kWords)(all, all, ds(w, 1));
  }
  // A quarter of a partition's values, wherever their words are.
  static Access quarter(const Access& x, const Area& a, std::int64_t q) {
    return x(ds(0, a.rows), ds(q * a.columns, a.columns));
  }
  Access radius(const Area& a) const { return radius_(ds(0, a.rows), all, ds(0, a.columns)); }
  Access angle(const Area& a) const { return angle_(ds(0, a.rows), all, ds(0, a.columns)); }
  static Access plane(const Access& planes, std::int64_t k) { return planes(all, ds(k, 1), all); }
  static Access bits(const Access& x) { return x.view(DType::UInt32); }
  static Access rows_of(const Access& column, const Area& a) { return column(ds(0, a.rows), all); }

  // The words of `next`, with the stages of `previous`, if there is one, between their rounds.
  void tile(WordTiles& tiles, const Area& previous, const Area& next) {
    const WordPlanes words = previous.rows == 0 ? tiles.next() : tiles.next([&](int s) { stage(previous, s); });
    begin(next, words);
  }

  // What reads the words, all on the Vector Engine: the generator may have them back at once.
  void begin(const Area& a, const WordPlanes& words) {
    for (std::int64_t pair = 0; pair < 2; ++pair) {
      const Access &x = words[static_cast<std::size_t>(2 * pair)], &y = words[static_cast<std::size_t>(2 * pair + 1)];
      const auto sum = [&](const Access& to, const Access& high, const Access& low) {
        b_.scalar_tensor_tensor(to, low, AluOp::Multiply, 0x1p-32, AluOp::Add, high);
      };
      if (s_.law == Law::Bernoulli) {
        below(a, 2 * pair, x, y);
        below(a, 2 * pair + 1, y, x);
        continue;
      }
      if (!is_normal(s_.law)) {
        sum(value(a, 2 * pair), x, y);
        sum(value(a, 2 * pair + 1), y, x);
        if (is_signed(s_.law)) {
          sign(a, 2 * pair, y);
          sign(a, 2 * pair + 1, x);
        }
        continue;
      }
      const auto bit_operations = [&](const Access& to, AluOp op0, double operand0, double mask) {
        TensorScalarOptions options;
        options.op1 = AluOp::BitwiseAnd;
        options.operand1 = mask;
        b_.tensor_scalar(bits(to), y, op0, operand0, options);
      };
      sum(plane(radius(a), pair), x, y);
      b_.tensor_scalar(bits(plane(angle(a), 2 * pair)), y, AluOp::BitwiseAnd, kAngleMask);
      bit_operations(plane(angle(a), 2 * pair + 1), AluOp::BitwiseXor, kAngleMask, kAngleMask);
      bit_operations(value(a, 2 * pair), AluOp::LeftShift, 8, kSignBit);
      bit_operations(value(a, 2 * pair + 1), AluOp::LeftShift, 9, kSignBit);
    }
  }

  // The last bit of the partner's word, in the place of a sign. ln u is negative, so the Laplace value, -ln u where the
  // bit is 0, takes the opposite.
  void sign(const Area& a, std::int64_t w, const Access& partner) {
    TensorScalarOptions options;
    if (s_.law == Law::Laplace) {
      options.op1 = AluOp::BitwiseXor;
      options.operand1 = kSignBit;
    }
    b_.tensor_scalar(of_word(signs_, a, w), partner, AluOp::LeftShift, 31.0, options);
  }

  // 1 where the number (high, low) is below the threshold.
  void below(const Area& a, std::int64_t w, const Access& high, const Access& low) {
    const Access to = value(a, w);
    const auto digit = [](const Access& x, std::int64_t h) {
      return x.view(DType::UInt16).split(0, 2)(all, all, ds(h, 1));
    };
    b_.tensor_scalar(to, digit(low, 0), AluOp::Less, rows_of(law_[3], a));
    b_.scalar_tensor_tensor(to, digit(low, 1), AluOp::Subtract, rows_of(law_[2], a), AluOp::Less, to);
    b_.scalar_tensor_tensor(to, digit(high, 0), AluOp::Subtract, rows_of(law_[1], a), AluOp::Less, to);
    b_.scalar_tensor_tensor(to, digit(high, 1), AluOp::Subtract, rows_of(law_[0], a), AluOp::Less, to);
  }

  void stage(const Area& a, int s) {
    if (is_normal(s_.law)) {
      normal_stage(a, s);
    } else if (s_.law == Law::Cauchy) {
      cauchy_stage(a, s);
    } else if (s_.law != Law::Bernoulli) {
      exponential_stage(a, s);
    }
    if (s == WordTiles::kBetween - 1) store(a);
  }

  void activate(const Access& to, ActFunction f, const Access& from, ScalarOrTile scale, ScalarOrTile bias) {
    ActivationOptions options;
    options.scale = std::move(scale);
    options.bias = std::move(bias);
    b_.activation(to, f, from, options);
  }

  // Twenty short instructions: planes 0 and 1 of the radius, then one value of the block after another.
  void normal_stage(const Area& a, int s) {
    if (s < 4) {
      const Access r = plane(radius(a), s % 2);
      return s < 2 ? activate(r, ActFunction::Log, r, kUniformScale, rows_of(half_unit_, a))
                   : activate(r, ActFunction::Sqrt, r, -2.0, 0.0);
    }
    const std::int64_t w = s % 4;
    const Access r = plane(radius(a), w / 2), sine = plane(angle(a), w), v = value(a, w);
    switch (s / 4) {
      case 1:
        return activate(sine, ActFunction::Sin, bits(sine), kAngleStep, rows_of(half_step_, a));
      case 2:
        return b_.tensor_tensor(bits(v), bits(v), bits(r), AluOp::BitwiseOr, Engine::Vector);
      case 3:
        return b_.tensor_tensor(v, v, sine, AluOp::Multiply, Engine::GpSimd);
      default:
        const ActFunction last = s_.law == Law::LogNormal ? ActFunction::Exp : ActFunction::Copy;
        return activate(v, last, v, rows_of(scale_, a), rows_of(location_, a));
    }
  }

  // A quarter of the values at a time. transform_parameters gives the exponential's scale with the sign of ln u.
  void exponential_stage(const Area& a, int s) {
    const Access v = quarter(values_, a, s % 4);
    const bool weibull = s_.law == Law::Weibull, laplace = s_.law == Law::Laplace;
    if (s / 4 == 0) activate(v, ActFunction::Log, v, kUniformScale, rows_of(half_unit_, a));
    if (s / 4 == 1 && weibull) activate(v, ActFunction::Log, v, -1.0, 0.0);
    if (s / 4 == 2 && weibull) activate(v, ActFunction::Exp, v, rows_of(shape_, a), 0.0);
    if (s / 4 == 2 && laplace) {
      b_.tensor_tensor(bits(v), bits(v), quarter(signs_, a, s % 4), AluOp::BitwiseXor, Engine::Vector);
    }
    if (s / 4 == 3) {
      activate(v, ActFunction::Copy, v, rows_of(scale_, a),
               laplace ? ScalarOrTile(rows_of(location_, a)) : ScalarOrTile(0.0));
    }
  }

  // The functions one after another over all quarters, so that each table is loaded once.
  void cauchy_stage(const Area& a, int s) {
    const Access v = quarter(values_, a, s % 4), rest = quarter(rest_, a, s % 4);
    switch (s / 4) {
      case 0: {
        activate(v, ActFunction::Copy, v, kUniformScale, rows_of(half_unit_, a));
        TensorScalarOptions plus_one;
        plus_one.op1 = AluOp::Add;
        plus_one.operand1 = 1.0;
        plus_one.engine = Engine::Vector;
        return b_.tensor_scalar(rest, v, AluOp::Multiply, -1.0, plus_one);
      }
      case 1:
        activate(v, ActFunction::Sin, v, kQuarterTurn, 0.0);
        return activate(rest, ActFunction::Sin, rest, kQuarterTurn, 0.0);
      case 2:
        return activate(v, ActFunction::Reciprocal, v, 1.0, 0.0);
      case 3:
        b_.tensor_tensor(v, v, rest, AluOp::Multiply, Engine::Vector);
        return b_.tensor_tensor(bits(v), bits(v), quarter(signs_, a, s % 4), AluOp::BitwiseOr, Engine::Vector);
      default:
        return activate(v, ActFunction::Copy, v, rows_of(scale_, a), rows_of(location_, a));
    }
  }

  void store(const Area& a) {
    const std::int64_t run = a.columns * kWords;  // words per partition
    const auto part = [&](std::int64_t row, std::int64_t row_count, std::int64_t from, std::int64_t size) {
      const Access target = out_(ds(a.first + (row * run + from - s_.phase), row_count * size));
      b_.dma_copy(row_count > 1 ? target.split(0, size) : target, values(a)(ds(row, row_count), ds(from, size)));
    };
    std::int64_t row = 0;
    if (a.lo > 0) part(row++, 1, a.lo, std::min(a.hi, run) - a.lo);
    const std::int64_t whole_rows = a.hi / run - row;
    if (whole_rows > 0) part(row, whole_rows, 0, run), row += whole_rows;
    if (a.hi > row * run) part(row, 1, 0, a.hi - row * run);
  }

  TransformShape s_;
  const Machine& m_;
  Builder b_;
  std::int64_t columns_;
  std::array<Access, kLawParameters> law_;
  Access out_, location_, scale_, shape_, half_unit_, half_step_, values_, radius_, angle_, signs_, rest_;
};

}  // namespace

const char* name(Law law) {
  switch (law) {
    case Law::Normal:
      return "normal";
    case Law::NormalInverse:
      return "normal_inverse";
    case Law::NormalCurand:
      return "normal_curand";
    case Law::LogNormal:
      return "log_normal";
    case Law::Exponential:
      return "exponential";
    case Law::Laplace:
      return "laplace";
    case Law::Weibull:
      return "weibull";
    case Law::Cauchy:
      return "cauchy";
    case Law::Bernoulli:
      return "bernoulli";
  }
  fail<InvalidArgument>("rand: law {} does not exist", static_cast<int>(law));
}

Program transform_program(const TransformShape& shape, const Machine& machine) {
  require(is_block_algorithm(shape.algorithm), "rand: {} has no device program; use philox4x32-10 or threefry4x32-20",
          name(shape.algorithm));
  require(has_program(shape.law), "rand: law {} has no device program", static_cast<int>(shape.law));
  require(shape.count >= 1 && shape.count <= kFillMax, "rand: a program makes 1 to {} values, not {}; split the draw",
          kFillMax, shape.count);
  require(shape.phase >= 0 && shape.phase < kWords, "rand: phase {} is not a position modulo {}", shape.phase, kWords);
  require(shape.dtype == DType::Float32 || (shape.dtype == DType::UInt32 && shape.law == Law::Bernoulli),
          "rand: {} has no device program in {}; use float32", name(shape.law), trn::name(shape.dtype));
  return TransformKernel(shape, machine).build();
}

std::vector<std::uint32_t> transform_parameters(const State& state, const Transform& t) {
  std::vector<std::uint32_t> words = fill_parameters(state);
  const auto push = [&](double p) { words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(p))); };
  if (t.law == Law::Bernoulli) {
    const std::uint64_t threshold = t.location == 1 ? 0 : static_cast<std::uint64_t>(std::ldexp(t.location, 64));
    push(t.location == 1 ? 65536 : static_cast<double>(threshold >> 48));
    for (const int shift : {32, 16, 0}) push(static_cast<double>(threshold >> shift & 0xffff));
    return words;
  }
  const double scale = t.law == Law::Exponential ? -t.scale : t.scale;
  for (const double p : {t.location, scale, t.shape, 0.0}) push(p);
  return words;
}

double device_difference_bound(const Transform& t, double value) {
  const double size = std::fabs(value);
  const auto affine = [&](double units, double y) {
    return units * std::fabs(y - t.location) + std::fabs(y);
  };  // y = location + scale z
  const auto normal = [&](double y) { return affine(6.5, y); };
  double units = 0;  // of 2^-23
  if (t.law == Law::Normal) units = normal(value);
  if (t.law == Law::LogNormal) units = size * (normal(std::log(size)) + 2);
  if (t.law == Law::Exponential) units = 3 * size;
  if (t.law == Law::Laplace) units = affine(3, value);
  if (t.law == Law::Cauchy) units = affine(7.5, value);
  if (t.law == Law::Weibull) {
    const double log_e = std::fabs(std::log(size / t.scale)) / t.shape;  // value = scale e^shape
    units = size * (t.shape * (2 + 3 * log_e) + 3);
  }
  return units * 0x1p-23;
}

namespace device {

void transform(const Executor& executor, const TransformArgs& args) {
  if (!has_program(args.transform.law))
    fail<NotImplemented>("rand: this method has no device kernel; draw on the host and copy()");
  if (args.out.dtype == DType::Float64)
    fail<NotImplemented>("rand: this method in float64 has no device kernel; use float, or the host");
  if (!is_block_algorithm(args.state.algorithm)) {
    fail<NotImplemented>("rand: {} runs on the host, not on executor '{}'; draw there and copy(), or use philox4x32-10",
                         name(args.state.algorithm), executor.name());
  }
  State state = args.state;
  auto* out = static_cast<std::byte*>(args.out.data);
  auto left = static_cast<std::uint64_t>(element_count(args.out.shape));
  while (left > 0) {
    const std::uint64_t count = std::min(left, fill_run_length(state));
    const TransformShape shape{state.algorithm, args.transform.law, static_cast<std::int64_t>(count),
                               static_cast<std::int64_t>(state.position % kWords), args.out.dtype};
    launch(executor, transform_program, shape,
           {constant("parameters", transform_parameters(state, args.transform)), {"out", out}});
    out += count * sizeof(float);
    state.position += count;
    left -= count;
  }
}

}  // namespace device

}  // namespace trn::rand
