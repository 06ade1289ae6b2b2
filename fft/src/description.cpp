// Descriptions of the usual layouts: dense arrays, and cuFFT's advanced layout.
#include <trn/core/enumerators.hpp>
#include <trn/fft/plan.hpp>

namespace trn::fft {
namespace {

std::int64_t product(const char* operation, std::int64_t a, std::int64_t b) {
  std::int64_t c = 0;
  require(!__builtin_mul_overflow(a, b, &c), "{}: {} * {} elements overflow 64 bits; use smaller extents or strides",
          operation, a, b);
  return c;
}

void check(const char* operation, Kind kind, Direction direction, const std::vector<std::int64_t>& lengths,
           std::int64_t batch) {
  operands::check_enumerator(operation, "Kind", kind, Kind::ComplexToReal);
  operands::check_enumerator(operation, "Direction", direction, Direction::Inverse);
  require(!lengths.empty(), "{}: no lengths; give one per transformed axis", operation);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    require(lengths[i] >= 1, "{}: axis {} has length {}; a transform needs at least 1 point", operation, i, lengths[i]);
  }
  require(batch >= 0, "{}: batch is {}; it must be >= 0", operation, batch);
}

// Extents of one side in its own elements.
std::vector<std::int64_t> side_extents(Kind kind, std::vector<std::int64_t> lengths, bool input) {
  if (kind == (input ? Kind::ComplexToReal : Kind::RealToComplex)) lengths.back() = lengths.back() / 2 + 1;
  return lengths;
}

// Strides of a row-major box of `embed`, its element being `stride`; the distance behind the box comes last.
std::vector<std::int64_t> box_strides(const char* operation, const std::vector<std::int64_t>& embed,
                                      std::int64_t stride) {
  std::vector<std::int64_t> strides(embed.size() + 1);
  for (std::size_t i = embed.size(); i-- > 0;) {
    strides[i] = stride;
    stride = product(operation, stride, embed[i]);
  }
  strides.back() = stride;
  return strides;
}

Description assemble(Kind kind, Direction direction, const std::vector<std::int64_t>& lengths, std::int64_t batch,
                     const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& out) {
  Description d{kind, direction, {}, {}};
  for (std::size_t i = 0; i < lengths.size(); ++i) d.axes.push_back({lengths[i], in[i], out[i]});
  if (batch != 1) d.batch.push_back({batch, in.back(), out.back()});
  return d;
}

}  // namespace

Description dense(Kind kind, Direction direction, const std::vector<std::int64_t>& lengths, DenseOptions options) {
  check("fft.dense", kind, direction, lengths, options.batch);
  require(!options.padded_real || kind != Kind::ComplexToComplex,
          "fft.dense: padded_real pads the rows of a real side, and a complex-to-complex transform has none; leave it "
          "false");
  auto in = side_extents(kind, lengths, true), out = side_extents(kind, lengths, false);
  if (options.padded_real)
    (kind == Kind::RealToComplex ? in : out).back() = product("fft.dense", 2, lengths.back() / 2 + 1);
  return assemble(kind, direction, lengths, options.batch, box_strides("fft.dense", in, 1),
                  box_strides("fft.dense", out, 1));
}

Description many(Kind kind, Direction direction, const std::vector<std::int64_t>& lengths, const SideLayout& input,
                 const SideLayout& output, std::int64_t batch) {
  check("fft.many", kind, direction, lengths, batch);
  const auto strides = [&](const SideLayout& side, bool is_input) {
    const char* which = is_input ? "input" : "output";
    require(side.embed.empty() || side.embed.size() == lengths.size(),
            "fft.many: {} lengths but {} extents in the {}'s embed; give one per axis or none", lengths.size(),
            side.embed.size(), which);
    for (std::size_t i = 0; i < side.embed.size(); ++i) {
      require(side.embed[i] >= 1, "fft.many: embed {} of the {} is {}; it must be >= 1", i, which, side.embed[i]);
    }
    auto result =
        box_strides("fft.many", side.embed.empty() ? side_extents(kind, lengths, is_input) : side.embed, side.stride);
    if (side.distance != 0) result.back() = side.distance;
    return result;
  };
  return assemble(kind, direction, lengths, batch, strides(input, true), strides(output, false));
}

}  // namespace trn::fft
