// Builder records a program. Every method appends one declaration or one nki.isa instruction; nothing runs.
//
//   Builder b("scale", machine);
//   auto x = b.input("x", DType::Float32, {1024, 512});
//   auto y = b.output("y", DType::Float32, {1024, 512});
//   b.parallel("i", 8, [&](Affine i) {
//     auto t = b.sbuf("t", 128, {512}, DType::Float32, 2);
//     b.dma_copy(t, x(ds(i * 128, 128), all));
//     b.tensor_scalar(t, t, AluOp::Multiply, 2.0);
//     b.dma_copy(y(ds(i * 128, 128), all), t);
//   });
//   Program p = b.finish();
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {

// A number, or one value per partition from a [P, 1] tile.
using ScalarOrTile = std::variant<double, Access>;

struct TensorScalarOptions {
  AluOp op1 = AluOp::None;
  ScalarOrTile operand1 = 0.0;
  bool reverse0 = false;
  bool reverse1 = false;
  Engine engine = Engine::Any;
};

// A reversed operator takes its operand first.
struct ReverseOptions {
  bool reverse0 = false;
  bool reverse1 = false;
};

// Without reduce_cmd, reduce_res is the sum of the activated values along the free dimension: ResetReduce. With it,
// sums stay in the Scalar Engine's registers from call to call: ResetReduce, Reduce, ..., the last one with reduce_res.
struct ActivationOptions {
  ScalarOrTile bias = 0.0;
  ScalarOrTile scale = 1.0;
  Access reduce_res = {};  // (P, 1)
  std::optional<ReduceCmd> reduce_cmd = {};
};

// The Vector Engine's registers keep their values from call to call, and tensor_scalar_reduce,
// tensor_scalar_cumulative, select_reduce and range_select share them. A chain begins with ResetReduce (or LoadReduce,
// with its value), goes on with Reduce, and the last call takes reduce_res, a (P, 1) tile.
struct ReduceOptions {
  Access reduce_res = {};
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  ScalarOrTile reduce_init = 0.0;  // LoadReduce
  bool negate = false;             // what reduce_res gets
};
struct CumulativeOptions {
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  ScalarOrTile imm1 = 0.0;  // LoadReduce
};
// Without reduce_cmd: ResetReduce when there is a reduce_res, else Idle.
struct SelectOptions {
  Access reduce_res = {};
  std::optional<ReduceCmd> reduce_cmd = {};
  bool reverse_pred = false;
};
struct RangeOptions {
  Access reduce_res = {};
  ReduceCmd reduce_cmd = ReduceCmd::ResetReduce;
  std::int64_t range_start = 0;
};

struct MatmulOptions {
  Affine accumulate = 0;  // 0 overwrites; a loop variable accumulates on every iteration but the first
  MatmulMode perf_mode = MatmulMode::Normal;
  bool is_transpose = false;
  isa::ArrayTile tile = {};  // the part of the array; the whole of it by default
};

struct MxMatmulOptions {
  MxFormat stationary = MxFormat::Float8E4M3FN;
  MxFormat moving = MxFormat::Float8E4M3FN;
  Affine accumulate = 0;       // as in MatmulOptions
  Affine tile_row = 0;         // parts of the array have all columns
  std::int64_t tile_rows = 0;  // 0: the whole array
};

// Sums of the exponentials, in the Vector Engine's registers from call to call. Without reduce_cmd, reduce_res is the
// sum of this call: ResetReduce.
struct ExponentialOptions {
  ScalarOrTile max_value = 0.0;
  Access reduce_res = {};  // (P, 1)
  std::optional<ReduceCmd> reduce_cmd = {};
  ScalarOrTile reduce_init = 0.0;  // with LoadReduce
};

// Where one side of a dma_copy in HBM starts, beyond its offset: the value of `from`, a register or a (1, 1) tile,
// times `step` elements. The value lies between 0 and `max`.
struct StartAt {
  Access from = {};
  std::int64_t step = 0, max = 0;
};
struct StartsAt {
  StartAt dst = {}, src = {};
};

struct DmaOptions {
  DgeMode dge = DgeMode::Default;
  std::int32_t ring = -1;
  DmaIssuer issuer = DmaIssuer::Default;  // dma_copy with DgeMode::Hardware
};

struct IndirectOptions {
  OobMode oob = OobMode::Error;
};

class Builder {
 public:
  Builder(std::string name, const Machine& machine);

  [[nodiscard]] const Machine& machine() const { return *machine_; }

  // HBM. Empty strides mean row-major.
  Access input(const std::string& name, DType dtype, Shape shape, Strides strides = {});
  Access output(const std::string& name, DType dtype, Shape shape, Strides strides = {});
  // An output in the memory of `input`, with its dtype, shape and strides: what the program stores replaces what it was
  // given. An element of the input is loaded before the output's is stored, never after.
  Access output_over(const std::string& name, const Access& input);
  // The same where only a part is written, such as one triangle; the rest keeps the input's values.
  Access partial_output(const std::string& name, const Access& input);
  Access scratch(const std::string& name, DType dtype, Shape shape);
  // On-chip tiles, alive until the enclosing loop body ends.
  Access sbuf(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype,
              std::int64_t buffers = 1);
  Access psum(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype = DType::Float32,
              std::int64_t buffers = 1);

  // Records body(i) once. A trip count of 1 records the body without a loop, 0 records nothing.
  using Body = std::function<void(Affine)>;
  void parallel(const std::string& variable, std::int64_t trip, const Body& body);
  void sequential(const std::string& variable, std::int64_t trip, const Body& body);
  // Loops of the device. body(i) runs as often as register `count` says when the loop is entered, at most `most` times.
  // The variable goes into addresses in HBM, of dma_copy.
  void fori_loop(const std::string& variable, const Access& count, std::int64_t most, const Body& body);
  // Runs the body as long as `condition` is not zero before it, at most `most` times; the body loads the register anew.
  void while_loop(const std::string& name, const Access& condition, std::int64_t most,
                  const std::function<void()>& body);

  // Registers: one signed 32-bit number that loops and addresses read.
  Access register_alloc(const std::string& name);
  void register_move(const Access& dst, std::int64_t value);
  void register_move(const Access& dst, const Access& src);
  void register_load(const Access& dst, const Access& src);  // src: one int32 or uint32 element of SBUF or HBM
  void register_store(const Access& dst, const Access& src);

  // DMA
  // A copy whose side in HBM has more than kHbmLevels levels is recorded as several.
  void dma_copy(const Access& dst, const Access& src, DmaOptions options = {});
  // The same where the device decides where one side or both start.
  void dma_copy_at(const Access& dst, const Access& src, const StartsAt& starts, DmaOptions options = {});
  void dma_transpose(const Access& dst, const Access& src, DmaOptions options = {});
  // dst(i, ...) = src(index(i), ...): index is a [P, 1] uint32 or int32 tile, src an HBM tensor. An index of K columns
  // is recorded as one copy for each: dst(i, k, ...) = src(index(i, k), ...).
  void dma_gather(const Access& dst, const Access& src, const Access& index, IndirectOptions options = {});
  // dst(index(i), ...) = src(i, ...).
  void dma_scatter(const Access& dst, const Access& src, const Access& index, IndirectOptions options = {});
  // dst = the sum of at most 16 sources, in fp32 from the first to the last.
  void dma_compute(const Access& dst, const std::vector<Access>& srcs, DmaOptions options = {});
  // dst(i, ...) += src(index(i), ...), src in HBM, and dst(index(i), ...) += src(i, ...), dst in HBM. No index twice.
  void dma_gather_add(const Access& dst, const Access& src, const Access& index, IndirectOptions options = {});
  void dma_scatter_add(const Access& dst, const Access& src, const Access& index, IndirectOptions options = {});

  // Tensor Engine: dst(m, n) = sum_k stationary(k, m) * moving(k, n)
  void nc_matmul(const Access& dst, const Access& stationary, const Access& moving, MatmulOptions options = {});
  void nc_transpose(const Access& dst, const Access& data, Engine engine = Engine::Tensor);
  // The same product of microscaling operands (trn3): four values in each element, a scale (uint8) for every 8
  // partitions.
  void nc_matmul_mx(const Access& dst, const Access& stationary, const Access& moving, const Access& stationary_scale,
                    const Access& moving_scale, MxMatmulOptions options = {});

  // Vector Engine (some also Scalar or GpSimd)
  void tensor_tensor(const Access& dst, const Access& data1, const Access& data2, AluOp op,
                     Engine engine = Engine::Any);
  void tensor_scalar(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0,
                     TensorScalarOptions options = {});
  // (data op0 operand0) op1 operand1
  void scalar_tensor_tensor(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0, AluOp op1,
                            const Access& operand1, ReverseOptions options = {});
  // Over the `reduce_dims` innermost dimensions.
  void tensor_reduce(const Access& dst, AluOp op, const Access& data, std::int64_t reduce_dims = 1,
                     bool negate = false);
  // r[i] = op1(op0(data0[i], r[i-1]), data1[i]), r[-1] = initial
  void tensor_tensor_scan(const Access& dst, const Access& data0, const Access& data1, ScalarOrTile initial, AluOp op0,
                          AluOp op1, ReverseOptions options = {});
  void tensor_copy(const Access& dst, const Access& src, Engine engine = Engine::Any);
  void tensor_copy_predicated(const Access& dst, ScalarOrTile src, const Access& predicate, bool reverse_pred = false);
  void reciprocal(const Access& dst, const Access& data);
  void memset(const Access& dst, double value, Engine engine = Engine::Any);
  // dst = data op0 operand0, and its reduction over all free dimensions.
  void tensor_scalar_reduce(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0, AluOp reduce_op,
                            ReduceOptions options = {});
  // dst[i] = r[i] = op1(src[i] op0 imm0, r[i-1])
  void tensor_scalar_cumulative(const Access& dst, const Access& src, AluOp op0, ScalarOrTile imm0, AluOp op1,
                                CumulativeOptions options = {});
  // predicate ? on_true : on_false, and the largest.
  void select_reduce(const Access& dst, const Access& predicate, const Access& on_true, ScalarOrTile on_false,
                     SelectOptions options = {});
  // With k = range_start + element number: comp_op0(k, bound0) && comp_op1(k, bound1) ? on_true : lowest fp32 number,
  // and the largest. Bounds are (P, 1) float32 tiles.
  void range_select(const Access& dst, const Access& on_true, AluOp comp_op0, const Access& bound0, AluOp comp_op1,
                    const Access& bound1, RangeOptions options = {});
  // The 8 largest values of 8 to 16384, largest first.
  void max8(const Access& dst, const Access& src);
  // Places of the 8 values in data, uint16 or uint32; all ones where there is none.
  void nc_find_index8(const Access& dst, const Access& data, const Access& vals);
  // dst = data with one place of each value replaced by imm; dst_idx, if present, takes the places.
  void nc_match_replace8(const Access& dst, const Access& data, const Access& vals, double imm,
                         const Access& dst_idx = {});

  // Scalar Engine: function(data * scale + bias)
  void activation(const Access& dst, ActFunction function, const Access& data, ActivationOptions options = {});

  // Vector Engine: exp(src - max_value) (trn3)
  void exponential(const Access& dst, const Access& src, ExponentialOptions options = {});
  // dst (P, 6): count, mean and variance * count of the elements with even and of those with odd numbers.
  void bn_stats(const Access& dst, const Access& data);
  // dst (P, 2): mean and variance out of such triples.
  void bn_aggr(const Access& dst, const Access& data);
  // src in a microscaling format (trn3): dst holds four values in each element, dst_scale (uint8) a scale for each
  // group.
  void quantize_mx(const Access& dst, const Access& src, const Access& dst_scale,
                   MxFormat format = MxFormat::Float8E4M3FN);

  // GpSimd
  // offset + partition * channel_multiplier + sum(step * index)
  void iota(const Access& dst, std::vector<Dim> pattern, std::int64_t offset = 0, std::int64_t channel_multiplier = 0);
  // cmp_op(affine value, 0) ? on_true : on_false
  void affine_select(const Access& dst, std::vector<Dim> pattern, std::int64_t offset, std::int64_t channel_multiplier,
                     AluOp cmp_op, const Access& on_true, double on_false);
  // dst(p, i, j) = src(p, list[i] + j): the 16 partitions of a GpSimd core share one list, read partition first from
  // their rows of `index` (uint16). An index counts elements of src.
  void local_gather(const Access& dst, const Access& src, const Access& index, std::int64_t elements_per_index = 1);
  // In partitions 0, 16, ..., 112 only: the places of nonzeros plus index_offset, padding, and their count at the end.
  void nonzero_with_count(const Access& dst, const Access& src, std::int64_t index_offset = 0,
                          std::int64_t padding_val = -1);
  void tensor_partition_reduce(const Access& dst, AluOp op, const Access& data);
  // dst(p, i) = data(p, indices(p, i)): every partition gathers by its own list (uint32).
  void nc_n_gather(const Access& dst, const Access& data, const Access& indices);

  // Vector Engine: in each quadrant of 32 partitions dst(i, ...) = src(mask[i], ...); 255 keeps dst.
  void nc_stream_shuffle(const Access& dst, const Access& src, std::vector<std::int64_t> mask);

  // The recorded program, verified. The builder is spent afterwards.
  [[nodiscard]] Program finish();
  // The same without verification: for tests of the checks themselves.
  [[nodiscard]] Program finish_unverified();

 private:
  Access declare_tensor(const std::string& name, TensorKind kind, DType dtype, Shape shape, Strides strides);
  Access declare_tile(const std::string& name, Space space, std::int64_t partitions, Shape shape, DType dtype,
                      std::int64_t buffers);
  void loop(const std::string& variable, std::int64_t trip, LoopKind kind, const Body& body);
  void record_loop(LoopDecl loop, const Body& body);
  void indirect(const Access& dst, const Access& src, const Access& index, const isa::DmaCopy& attributes);
  void append(Engine engine, std::vector<Access> operands, Attributes attributes);

  const Machine* machine_;
  Program::Parts parts_;
};

}  // namespace trn::tile
