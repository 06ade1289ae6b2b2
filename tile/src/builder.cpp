// Recording: each method fills one Instruction; loops are recorded once with a symbolic index.
#include <trn/tile/builder.hpp>

#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/verify.hpp>

#include "split_copy.hpp"

namespace trn::tile {

namespace {
// The [P, 1] tile of a ScalarOrTile, or an empty slot with the number put into `number`.
Access slot_or_value(const ScalarOrTile& value, double& number) {
  if (const Access* access = std::get_if<Access>(&value)) return *access;
  number = std::get<double>(value);
  return {};
}

std::vector<Dim> dims_of(const Shape& shape, const Strides& strides) {
  std::vector<Dim> dims(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) dims[i] = {strides[i], shape[i]};
  return dims;
}
}  // namespace

Builder::Builder(std::string name, const Machine& machine) : machine_(&machine) {
  parts_.name = std::move(name);
  parts_.machine = std::string(machine.name);
}

Access Builder::declare_tensor(const std::string& name, TensorKind kind, DType dtype, Shape shape, Strides strides) {
  if (strides.empty()) strides = row_major_strides(shape);
  require(shape.size() == strides.size() && !shape.empty(), "builder: tensor '{}' has {} extents and {} strides", name,
          shape.size(), strides.size());
  require(element_count(shape) > 0, "builder: tensor '{}' of shape {} is empty; programs have no empty tensors", name,
          to_string(shape));
  for (const TensorDecl& other : parts_.tensors) require(other.name != name, "builder: two tensors named '{}'", name);
  Access access{Target::Tensor,         static_cast<std::int32_t>(parts_.tensors.size()), dtype, 0, 0, 0,
                dims_of(shape, strides)};
  parts_.tensors.push_back({name, kind, dtype, std::move(shape), std::move(strides), {}, false});
  return access;
}

Access Builder::input(const std::string& name, DType dtype, Shape shape, Strides strides) {
  return declare_tensor(name, TensorKind::Input, dtype, std::move(shape), std::move(strides));
}
Access Builder::output(const std::string& name, DType dtype, Shape shape, Strides strides) {
  return declare_tensor(name, TensorKind::Output, dtype, std::move(shape), std::move(strides));
}
Access Builder::output_over(const std::string& name, const Access& input) {
  require(input.target == Target::Tensor, "builder: output '{}' is to continue an input tensor", name);
  const TensorDecl of = parts_.tensors[static_cast<std::size_t>(input.id)];
  const Access access = output(name, of.dtype, of.shape, of.strides);
  parts_.tensors.back().alias = of.name;
  return access;
}
Access Builder::partial_output(const std::string& name, const Access& input) {
  const Access access = output_over(name, input);
  parts_.tensors.back().partial = true;
  return access;
}
Access Builder::scratch(const std::string& name, DType dtype, Shape shape) {
  return declare_tensor(name, TensorKind::Scratch, dtype, std::move(shape), {});
}

Access Builder::declare_tile(const std::string& name, Space space, std::int64_t partitions, Shape shape, DType dtype,
                             std::int64_t buffers) {
  require(partitions >= 1 && buffers >= 1 && element_count(shape) >= 1,
          "builder: tile '{}' has {} partitions, free shape {} and {} buffers; all must be at least 1", name,
          partitions, to_string(shape), buffers);
  const auto id = static_cast<std::int32_t>(parts_.tiles.size());
  Access access{Target::Tile, id, dtype, 0, partitions, 0, dims_of(shape, row_major_strides(shape))};
  parts_.tiles.push_back({name, space, dtype, partitions, std::move(shape), buffers});
  parts_.statements.push_back({StatementKind::Alloc, id, 0});
  return access;
}

Access Builder::sbuf(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype,
                     std::int64_t buffers) {
  return declare_tile(name, Space::Sbuf, partitions, std::move(free_shape), dtype, buffers);
}
Access Builder::psum(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype,
                     std::int64_t buffers) {
  return declare_tile(name, Space::Psum, partitions, std::move(free_shape), dtype, buffers);
}

void Builder::loop(const std::string& variable, std::int64_t trip, LoopKind kind, const Body& body) {
  require(trip >= 0, "builder: loop '{}' has {} iterations", variable, trip);
  if (trip == 0) return;
  if (trip == 1) return body(Affine(0));
  record_loop({variable, trip, kind}, body);
}

void Builder::record_loop(LoopDecl loop, const Body& body) {
  const auto id = static_cast<std::int32_t>(parts_.loops.size());
  const std::int64_t trip = loop.trip;
  parts_.loops.push_back(std::move(loop));
  const std::size_t at = parts_.statements.size();
  parts_.statements.push_back({StatementKind::Loop, id, 0});
  body(Affine::variable(id, trip));
  parts_.statements[at].end = static_cast<std::int32_t>(parts_.statements.size());
}

void Builder::parallel(const std::string& variable, std::int64_t trip, const Body& body) {
  loop(variable, trip, LoopKind::Parallel, body);
}
void Builder::sequential(const std::string& variable, std::int64_t trip, const Body& body) {
  loop(variable, trip, LoopKind::Sequential, body);
}

void Builder::fori_loop(const std::string& variable, const Access& count, std::int64_t most, const Body& body) {
  require(most >= 1, "builder: loop '{}' has at most {} iterations; declare at least 1", variable, most);
  record_loop({variable, most, LoopKind::Counted, count.is_tile() ? count.id : -1}, body);
}
void Builder::while_loop(const std::string& name, const Access& condition, std::int64_t most,
                         const std::function<void()>& body) {
  require(most >= 1, "builder: loop '{}' has at most {} iterations; declare at least 1", name, most);
  record_loop({name, most, LoopKind::While, condition.is_tile() ? condition.id : -1}, [&](const Affine&) { body(); });
}

Access Builder::register_alloc(const std::string& name) {
  return declare_tile(name, Space::Register, 1, {1}, DType::Int32, 1);
}
void Builder::register_move(const Access& dst, std::int64_t value) {
  append(Engine::Sync, {dst, {}}, isa::RegisterMove{value});
}
void Builder::register_move(const Access& dst, const Access& src) {
  append(Engine::Sync, {dst, src}, isa::RegisterMove{});
}
void Builder::register_load(const Access& dst, const Access& src) {
  append(Engine::Sync, {dst, src}, isa::RegisterLoad{});
}
void Builder::register_store(const Access& dst, const Access& src) {
  append(Engine::Sync, {dst, src}, isa::RegisterStore{});
}

void Builder::append(Engine engine, std::vector<Access> operands, Attributes attributes) {
  Instruction instruction{engine, std::move(operands), std::move(attributes)};
  const OpcodeInfo& info = opcode_info(instruction.opcode());
  if (info.engines.size() == 1) instruction.engine = info.engines.front();
  parts_.statements.push_back({StatementKind::Instruction, static_cast<std::int32_t>(parts_.instructions.size()), 0});
  parts_.instructions.push_back(std::move(instruction));
}

void Builder::dma_copy(const Access& dst, const Access& src, DmaOptions options) { dma_copy_at(dst, src, {}, options); }
void Builder::dma_copy_at(const Access& dst, const Access& src, const StartsAt& starts, DmaOptions options) {
  for (const CopyPart& part : split_copy(dst, src)) {
    append(Engine::Dma, {part.dst, part.src, {}, starts.dst.from, starts.src.from},
           isa::DmaCopy{.dst_offset_step = starts.dst.step,
                        .dst_offset_max = starts.dst.max,
                        .src_offset_step = starts.src.step,
                        .src_offset_max = starts.src.max,
                        .issuer = options.issuer,
                        .route = {options.dge, options.ring}});
  }
}
void Builder::dma_transpose(const Access& dst, const Access& src, DmaOptions options) {
  require(options.issuer == DmaIssuer::Default, "builder: dma_transpose cannot choose its issuer; leave it open");
  append(Engine::Dma, {dst, src}, isa::DmaTranspose{{options.dge, options.ring}});
}
void Builder::dma_gather(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  indirect(dst, src, index, isa::DmaCopy{.oob = options.oob});
}
void Builder::dma_scatter(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  indirect(dst, src, index, isa::DmaCopy{.scatter = true, .oob = options.oob});
}

// NKI documents one index per partition: more of them are more copies.
void Builder::indirect(const Access& dst, const Access& src, const Access& index, const isa::DmaCopy& attributes) {
  const Access& listed = attributes.scatter ? src : dst;
  const std::int64_t columns = index.is_tile() ? index.free_size() : 1;
  const std::size_t d = listed.is_tile() ? 0 : 1;  // the dimension after the rows
  const bool paired = index.dims.size() == 1 && listed.dims.size() > d && listed.dims[d].size == columns;
  // What does not fit is the verifier's to report.
  if (columns == 1 || !paired) return append(Engine::Dma, {dst, src, index, {}, {}}, attributes);
  for (std::int64_t k = 0; k < columns; ++k) {
    Access row = listed, column = index;
    row.offset = row.offset + k * row.dims[d].stride;
    row.dims[d].size = 1;
    column.offset = column.offset + k * column.dims[0].stride;
    column.dims[0].size = 1;
    append(Engine::Dma, {attributes.scatter ? dst : row, attributes.scatter ? row : src, column, {}, {}}, attributes);
  }
}

void Builder::dma_compute(const Access& dst, const std::vector<Access>& srcs, DmaOptions options) {
  using I = isa::DmaCompute;
  require(!srcs.empty() && srcs.size() <= I::kSources, "builder: dma_compute of {} sources; between 1 and {}",
          srcs.size(), I::kSources);
  std::vector<Access> operands(I::index + 1);
  operands[I::dst] = dst;
  std::copy(srcs.begin(), srcs.end(), operands.begin() + I::src0);
  require(options.issuer == DmaIssuer::Default, "builder: dma_compute cannot choose its issuer; leave it open");
  append(Engine::Dma, std::move(operands), I{.route = {options.dge, options.ring}});
}
void Builder::dma_gather_add(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  using I = isa::DmaCompute;
  std::vector<Access> operands(I::index + 1);
  operands[I::dst] = operands[I::src0] = dst;
  operands[I::src1] = src;
  operands[I::index] = index;
  append(Engine::Dma, std::move(operands), I{.oob = options.oob});
}
void Builder::dma_scatter_add(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  using I = isa::DmaCompute;
  std::vector<Access> operands(I::index + 1);
  operands[I::dst] = operands[I::src0] = dst;
  operands[I::src1] = src;
  operands[I::index] = index;
  append(Engine::Dma, std::move(operands), I{.scatter = true, .oob = options.oob});
}

void Builder::nc_matmul(const Access& dst, const Access& stationary, const Access& moving, MatmulOptions options) {
  append(
      Engine::Tensor, {dst, stationary, moving},
      isa::NcMatmul{std::move(options.accumulate), options.perf_mode, options.is_transpose, std::move(options.tile)});
}
void Builder::nc_transpose(const Access& dst, const Access& data, Engine engine) {
  append(engine, {dst, data}, isa::NcTranspose{});
}
void Builder::nc_matmul_mx(const Access& dst, const Access& stationary, const Access& moving,
                           const Access& stationary_scale, const Access& moving_scale, MxMatmulOptions options) {
  append(Engine::Tensor, {dst, stationary, moving, stationary_scale, moving_scale},
         isa::NcMatmulMx{options.stationary, options.moving, std::move(options.accumulate), std::move(options.tile_row),
                         options.tile_rows});
}

void Builder::tensor_tensor(const Access& dst, const Access& data1, const Access& data2, AluOp op, Engine engine) {
  append(engine, {dst, data1, data2}, isa::TensorTensor{op});
}
void Builder::tensor_scalar(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0,
                            TensorScalarOptions options) {
  isa::TensorScalar a{.op0 = op0, .op1 = options.op1, .reverse0 = options.reverse0, .reverse1 = options.reverse1};
  const Access o0 = slot_or_value(operand0, a.operand0_value), o1 = slot_or_value(options.operand1, a.operand1_value);
  append(options.engine, {dst, data, o0, o1}, a);
}
void Builder::scalar_tensor_tensor(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0, AluOp op1,
                                   const Access& operand1, ReverseOptions options) {
  isa::ScalarTensorTensor a{.op0 = op0, .op1 = op1, .reverse0 = options.reverse0, .reverse1 = options.reverse1};
  const Access o0 = slot_or_value(operand0, a.operand0_value);
  append(Engine::Vector, {dst, data, o0, operand1}, a);
}
void Builder::tensor_reduce(const Access& dst, AluOp op, const Access& data, std::int64_t reduce_dims, bool negate) {
  append(Engine::Vector, {dst, data}, isa::TensorReduce{op, negate, reduce_dims});
}
void Builder::tensor_tensor_scan(const Access& dst, const Access& data0, const Access& data1, ScalarOrTile initial,
                                 AluOp op0, AluOp op1, ReverseOptions options) {
  isa::TensorTensorScan a{.op0 = op0, .op1 = op1, .reverse0 = options.reverse0, .reverse1 = options.reverse1};
  const Access start = slot_or_value(initial, a.initial_value);
  append(Engine::Vector, {dst, data0, data1, start}, a);
}
void Builder::tensor_copy(const Access& dst, const Access& src, Engine engine) {
  append(engine, {dst, src}, isa::TensorCopy{});
}
void Builder::tensor_copy_predicated(const Access& dst, ScalarOrTile src, const Access& predicate, bool reverse_pred) {
  isa::TensorCopyPredicated a{.reverse_pred = reverse_pred};
  const Access from = slot_or_value(src, a.src_value);
  append(Engine::Vector, {dst, from, predicate}, a);
}
void Builder::reciprocal(const Access& dst, const Access& data) {
  append(Engine::Vector, {dst, data}, isa::Reciprocal{});
}
void Builder::memset(const Access& dst, double value, Engine engine) { append(engine, {dst}, isa::Memset{value}); }

void Builder::tensor_scalar_reduce(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0,
                                   AluOp reduce_op, ReduceOptions options) {
  isa::TensorScalarReduce a{.op0 = op0, .reduce_op = reduce_op, .reduce_cmd = options.reduce_cmd};
  a.reduce_res_negate = options.negate;
  const Access o0 = slot_or_value(operand0, a.operand0_value);
  const Access init = slot_or_value(options.reduce_init, a.reduce_init_value);
  append(Engine::Vector, {dst, data, o0, options.reduce_res, init}, a);
}
void Builder::tensor_scalar_cumulative(const Access& dst, const Access& src, AluOp op0, ScalarOrTile imm0, AluOp op1,
                                       CumulativeOptions options) {
  isa::TensorScalarCumulative a{.op0 = op0, .op1 = op1, .reduce_cmd = options.reduce_cmd};
  const Access i0 = slot_or_value(imm0, a.imm0_value), i1 = slot_or_value(options.imm1, a.imm1_value);
  append(Engine::Vector, {dst, src, i0, i1}, a);
}
void Builder::select_reduce(const Access& dst, const Access& predicate, const Access& on_true, ScalarOrTile on_false,
                            SelectOptions options) {
  isa::SelectReduce a{.reverse_pred = options.reverse_pred};
  a.reduce_cmd = options.reduce_cmd.value_or(options.reduce_res.present() ? ReduceCmd::ResetReduce : ReduceCmd::Idle);
  const Access otherwise = slot_or_value(on_false, a.on_false_value);
  append(Engine::Vector, {dst, predicate, on_true, otherwise, options.reduce_res}, a);
}
void Builder::range_select(const Access& dst, const Access& on_true, AluOp comp_op0, const Access& bound0,
                           AluOp comp_op1, const Access& bound1, RangeOptions options) {
  append(Engine::Vector, {dst, on_true, bound0, bound1, options.reduce_res},
         isa::RangeSelect{comp_op0, comp_op1, options.reduce_cmd, options.range_start});
}
void Builder::max8(const Access& dst, const Access& src) { append(Engine::Vector, {dst, src}, isa::Max8{}); }
void Builder::nc_find_index8(const Access& dst, const Access& data, const Access& vals) {
  append(Engine::Vector, {dst, data, vals}, isa::NcFindIndex8{});
}
void Builder::nc_match_replace8(const Access& dst, const Access& data, const Access& vals, double imm,
                                const Access& dst_idx) {
  append(Engine::Vector, {dst, data, vals, dst_idx}, isa::NcMatchReplace8{imm});
}

void Builder::activation(const Access& dst, ActFunction op, const Access& data, ActivationOptions options) {
  isa::Activation a{.op = op};
  const Access bias = slot_or_value(options.bias, a.bias_value), scale = slot_or_value(options.scale, a.scale_value);
  a.reduce_cmd = options.reduce_cmd.value_or(options.reduce_res.present() ? ReduceCmd::ResetReduce : ReduceCmd::Idle);
  if (accumulates(a.reduce_cmd)) a.reduce_op = AluOp::Add;
  append(Engine::Scalar, {dst, data, bias, scale, options.reduce_res}, a);
}

void Builder::exponential(const Access& dst, const Access& src, ExponentialOptions options) {
  isa::Exponential a{};
  const Access max_value = slot_or_value(options.max_value, a.max_value_value);
  const Access init = slot_or_value(options.reduce_init, a.reduce_init_value);
  a.reduce_cmd = options.reduce_cmd.value_or(options.reduce_res.present() ? ReduceCmd::ResetReduce : ReduceCmd::Idle);
  append(Engine::Vector, {dst, src, max_value, options.reduce_res, init}, a);
}
void Builder::bn_stats(const Access& dst, const Access& data) { append(Engine::Vector, {dst, data}, isa::BnStats{}); }
void Builder::bn_aggr(const Access& dst, const Access& data) { append(Engine::Vector, {dst, data}, isa::BnAggr{}); }
void Builder::quantize_mx(const Access& dst, const Access& src, const Access& dst_scale, MxFormat format) {
  append(Engine::Vector, {dst, src, dst_scale}, isa::QuantizeMx{format});
}

void Builder::iota(const Access& dst, std::vector<Dim> pattern, std::int64_t offset, std::int64_t channel_multiplier) {
  append(Engine::GpSimd, {dst}, isa::Iota{{std::move(pattern), offset, channel_multiplier}});
}
void Builder::affine_select(const Access& dst, std::vector<Dim> pattern, std::int64_t offset,
                            std::int64_t channel_multiplier, AluOp cmp_op, const Access& on_true, double on_false) {
  append(Engine::GpSimd, {dst, on_true},
         isa::AffineSelect{cmp_op, on_false, {std::move(pattern), offset, channel_multiplier}});
}
void Builder::local_gather(const Access& dst, const Access& src, const Access& index, std::int64_t elements_per_index) {
  append(Engine::GpSimd, {dst, src, index}, isa::LocalGather{elements_per_index});
}
void Builder::nonzero_with_count(const Access& dst, const Access& src, std::int64_t index_offset,
                                 std::int64_t padding_val) {
  append(Engine::GpSimd, {dst, src}, isa::NonzeroWithCount{index_offset, padding_val});
}
void Builder::tensor_partition_reduce(const Access& dst, AluOp op, const Access& data) {
  append(Engine::GpSimd, {dst, data}, isa::TensorPartitionReduce{op});
}
void Builder::nc_n_gather(const Access& dst, const Access& data, const Access& indices) {
  append(Engine::GpSimd, {dst, data, indices}, isa::NcNGather{});
}
void Builder::nc_stream_shuffle(const Access& dst, const Access& src, std::vector<std::int64_t> mask) {
  append(Engine::Vector, {dst, src}, isa::NcStreamShuffle{std::move(mask)});
}

Program Builder::finish_unverified() { return Program(std::move(parts_)); }

Program Builder::finish() {
  Program program = finish_unverified();
  verify_or_throw(program, *machine_);
  return program;
}

}  // namespace trn::tile
