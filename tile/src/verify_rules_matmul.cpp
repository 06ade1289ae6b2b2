// Shape rules of the matmuls and of what makes microscaling operands (size-limit, partition-rule): sizes, the part of
// the array that a matmul uses, and where scales lie.
#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kSize = "size-limit";
constexpr std::string_view kPartition = "partition-rule";

void at_most(const Context& c, std::size_t slot, std::string_view what, std::int64_t n, std::int64_t limit) {
  if (n > limit) c.report(kSize, c.operand_name(slot), "{} = {}; at most {}: split the instruction", what, n, limit);
}

// stationary [K, M], moving [K, N], dst [M, N].
struct Sizes {
  std::int64_t m, n;
};
template <class I> void check_product(const Context& c, Sizes sizes) {
  const Access &dst = c.operand(I::dst), &stationary = c.operand(I::stationary), &moving = c.operand(I::moving);
  if (stationary.partitions != moving.partitions) {
    c.report(kPartition, "moving", "{} partitions but stationary has {}; K must be equal", moving.partitions,
             stationary.partitions);
  }
  if (dst.partitions != sizes.m) {
    c.report(kPartition, "dst", "{} partitions but stationary has M = {} columns; make them equal", dst.partitions,
             sizes.m);
  }
  if (free_elements(dst) != sizes.n) {
    c.report(kSize, "dst", "{} elements per partition but moving has N = {}; make them equal", free_elements(dst),
             sizes.n);
  }
  const bool halves = c.machine.matmul_spans_banks && dst.dtype == DType::BFloat16;  // of fp32: twice as many fit
  const isa::ArrayTile tile = array_tile(c.instruction, c.machine);
  at_most(c, I::stationary, "K", stationary.partitions, tile.whole() ? c.machine.partitions : tile.rows);
  at_most(c, I::stationary, "M", sizes.m, tile.whole() ? c.machine.stationary_free_max : tile.columns);
  at_most(c, I::moving, "N", sizes.n, c.machine.moving_free_max * (halves ? 2 : 1));
  if (tile.whole()) return;
  const auto starts_at = [&](std::size_t slot, const Affine& wanted, std::string_view what) {
    if (c.operand(slot).partition == wanted) return;
    c.report(kPartition, c.operand_name(slot),
             "starts at another partition than the part of the array; {} of the part are the partitions of the same "
             "numbers: make the starts equal",
             what);
  };
  starts_at(I::stationary, tile.row, "rows");
  starts_at(I::moving, tile.row, "rows");
  starts_at(I::dst, tile.column, "columns");
}

// Partitions that share a scale, rows of scales in a quadrant, and the tiles whose scales fit into one.
constexpr std::int64_t kGroup = 8, kScaleTiles = 4;

// Whole quadrants of data; the scales of a quadrant are its rows 0 .. 3, or 4, 8 or 12 rows further on.
void check_scale(const Context& c, std::size_t data_slot, std::size_t scale_slot, std::int64_t elements) {
  const Access &data = c.operand(data_slot), &scale = c.operand(scale_slot);
  const std::int64_t grain = quadrant(c.machine), rows = grain / kGroup;
  if (data.partitions % grain != 0) {
    c.report(kPartition, c.operand_name(data_slot),
             "{} partitions; scales belong to whole quadrants: use a multiple of {}", data.partitions, grain);
    return;
  }
  const Affine start = scale.partition - data.partition;
  const std::int64_t offset = start.constant();
  if (!start.is_constant() || offset < 0 || offset % rows != 0 || offset / rows >= kScaleTiles) {
    c.report(kPartition, c.operand_name(scale_slot),
             "does not start in the quadrant of {}; scales lie {} to {} partitions after it, in steps of {}",
             c.operand_name(data_slot), 0, rows * (kScaleTiles - 1), rows);
  }
  const std::int64_t least = data.partitions - grain + rows;
  if (scale.partitions < least || scale.partitions > data.partitions) {
    c.report(kPartition, c.operand_name(scale_slot),
             "{} partitions for {} of {}; {} rows in each quadrant hold scales: between {} and {}", scale.partitions,
             data.partitions, c.operand_name(data_slot), rows, least, data.partitions);
  }
  if (free_elements(scale) != elements) {
    c.report(kSize, c.operand_name(scale_slot), "{} elements per partition but {} has {} groups; make them equal",
             free_elements(scale), c.operand_name(data_slot), elements);
  }
}

}  // namespace

// Double rows: [K, 2, M] and [K, 2, N].
void check_shape(const Context& c, const isa::NcMatmul& a) {
  using I = isa::NcMatmul;
  Sizes sizes{free_elements(c.operand(I::stationary)), free_elements(c.operand(I::moving))};
  if (a.perf_mode == MatmulMode::DoubleRow) {
    for (const I::Slot slot : {I::stationary, I::moving}) {
      const std::vector<Dim>& dims = c.operand(slot).dims;
      if (dims.size() >= 2 && dims.front().size == 2) continue;
      c.report(kSize, c.operand_name(slot), "double_row takes [K, 2, free]; the first free dimension must have size 2");
      return;
    }
    sizes = {sizes.m / 2, sizes.n / 2};
  }
  check_product<I>(c, sizes);
}

void check_shape(const Context& c, const isa::NcMatmulMx&) {
  using I = isa::NcMatmulMx;
  const Sizes sizes{free_elements(c.operand(I::stationary)), free_elements(c.operand(I::moving))};
  check_product<I>(c, sizes);
  if (sizes.m % 2 != 0) c.report(kSize, "stationary", "M = {}; it must be even: add a column of zeros", sizes.m);
  check_scale(c, I::stationary, I::stationary_scale, sizes.m);
  check_scale(c, I::moving, I::moving_scale, sizes.n);
}

void check_shape(const Context& c, const isa::QuantizeMx&) {
  using I = isa::QuantizeMx;
  constexpr std::int64_t kPacked = 4;
  const Access &dst = c.operand(I::dst), &src = c.operand(I::src);
  const std::int64_t n = free_elements(src);
  if (n % kPacked != 0 || free_elements(dst) != n / kPacked) {
    c.report(kSize, "dst", "{} elements per partition for {} of src; an element holds {} of them", free_elements(dst),
             n, kPacked);
  }
  if (dst.partitions != src.partitions || dst.partition != src.partition) {
    c.report(kPartition, "dst", "other partitions than src; quantize_mx keeps the partition: make them equal");
  }
  check_scale(c, I::src, I::dst_scale, n / kPacked);
}

bool is_scale(const Instruction& instruction, std::size_t slot) {
  if (instruction.as<isa::NcMatmulMx>()) {
    return slot == isa::NcMatmulMx::stationary_scale || slot == isa::NcMatmulMx::moving_scale;
  }
  return instruction.as<isa::QuantizeMx>() && slot == isa::QuantizeMx::dst_scale;
}

}  // namespace trn::tile::rules
