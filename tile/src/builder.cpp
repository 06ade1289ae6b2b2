// Recording: each method fills one Instruction; loops are recorded once with a symbolic index.
#include <trn/tile/builder.hpp>

#include <trn/core/error.hpp>
#include <trn/tile/verify.hpp>

namespace trn::tile {

namespace {
// The [P, 1] tile of a ScalarOrTile, or an empty slot with the number put into `immediate`.
Access slot_or_immediate(const ScalarOrTile& value, double& immediate) {
  if (const Access* access = std::get_if<Access>(&value)) return *access;
  immediate = std::get<double>(value);
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
  Access access{Target::Tensor, static_cast<std::int32_t>(parts_.tensors.size()), dtype, 0, 0, 0, dims_of(shape, strides)};
  parts_.tensors.push_back({name, kind, dtype, std::move(shape), std::move(strides), false});
  return access;
}

Access Builder::input(const std::string& name, DType dtype, Shape shape, Strides strides) {
  return declare_tensor(name, TensorKind::Input, dtype, std::move(shape), std::move(strides));
}
Access Builder::output(const std::string& name, DType dtype, Shape shape, Strides strides) {
  return declare_tensor(name, TensorKind::Output, dtype, std::move(shape), std::move(strides));
}
Access Builder::partial_output(const std::string& name, DType dtype, Shape shape, Strides strides) {
  const Access access = output(name, dtype, std::move(shape), std::move(strides));
  parts_.tensors.back().partial = true;
  return access;
}
Access Builder::scratch(const std::string& name, DType dtype, Shape shape) {
  return declare_tensor(name, TensorKind::Scratch, dtype, std::move(shape), {});
}

Access Builder::declare_tile(const std::string& name, Space space, std::int64_t partitions, Shape shape, DType dtype,
                             std::int64_t buffers) {
  require(partitions >= 1 && buffers >= 1 && element_count(shape) >= 1,
          "builder: tile '{}' has {} partitions, free shape {} and {} buffers; all must be at least 1", name, partitions,
          to_string(shape), buffers);
  const auto id = static_cast<std::int32_t>(parts_.tiles.size());
  Access access{Target::Tile, id, dtype, 0, partitions, 0, dims_of(shape, row_major_strides(shape))};
  parts_.tiles.push_back({name, space, dtype, partitions, std::move(shape), buffers});
  parts_.statements.push_back({StatementKind::Alloc, id, 0});
  return access;
}

Access Builder::sbuf(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype, std::int64_t buffers) {
  return declare_tile(name, Space::Sbuf, partitions, std::move(free_shape), dtype, buffers);
}
Access Builder::psum(const std::string& name, std::int64_t partitions, Shape free_shape, DType dtype, std::int64_t buffers) {
  return declare_tile(name, Space::Psum, partitions, std::move(free_shape), dtype, buffers);
}

void Builder::loop(const std::string& variable, std::int64_t trip, LoopKind kind, const Body& body) {
  require(trip >= 0, "builder: loop '{}' has {} iterations", variable, trip);
  if (trip == 0) return;
  if (trip == 1) return body(Affine(0));
  const auto id = static_cast<std::int32_t>(parts_.loops.size());
  parts_.loops.push_back({variable, trip, kind});
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

void Builder::append(Opcode opcode, Engine engine, std::vector<Access> operands, Attributes attributes) {
  const OpcodeInfo& info = opcode_info(opcode);
  if (info.engines.size() == 1) engine = info.engines.front();
  parts_.statements.push_back({StatementKind::Instruction, static_cast<std::int32_t>(parts_.instructions.size()), 0});
  parts_.instructions.push_back({opcode, engine, std::move(operands), std::move(attributes)});
}

void Builder::dma_copy(const Access& dst, const Access& src, DmaOptions options) {
  append(Opcode::DmaCopy, Engine::Dma, {dst, src, {}}, {.dge = options.dge, .ring = options.ring});
}
void Builder::dma_transpose(const Access& dst, const Access& src, DmaOptions options) {
  append(Opcode::DmaTranspose, Engine::Dma, {dst, src}, {.dge = options.dge, .ring = options.ring});
}
void Builder::dma_gather(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  append(Opcode::DmaCopy, Engine::Dma, {dst, src, index}, {.oob = options.oob});
}
void Builder::dma_scatter(const Access& dst, const Access& src, const Access& index, IndirectOptions options) {
  append(Opcode::DmaCopy, Engine::Dma, {dst, src, index}, {.scatter = true, .oob = options.oob});
}

void Builder::nc_matmul(const Access& dst, const Access& stationary, const Access& moving, MatmulOptions options) {
  append(Opcode::NcMatmul, Engine::Tensor, {dst, stationary, moving},
         {.accumulate = std::move(options.accumulate), .perf_mode = options.perf_mode, .is_transpose = options.is_transpose});
}
void Builder::nc_transpose(const Access& dst, const Access& data, Engine engine) {
  append(Opcode::NcTranspose, engine, {dst, data}, {});
}

void Builder::tensor_tensor(const Access& dst, const Access& data1, const Access& data2, AluOp op, Engine engine) {
  append(Opcode::TensorTensor, engine, {dst, data1, data2}, {.op0 = op});
}
void Builder::tensor_scalar(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0,
                            TensorScalarOptions options) {
  Attributes a{.op0 = op0, .op1 = options.op1, .reverse0 = options.reverse0, .reverse1 = options.reverse1};
  const Access o0 = slot_or_immediate(operand0, a.imm0), o1 = slot_or_immediate(options.operand1, a.imm1);
  append(Opcode::TensorScalar, options.engine, {dst, data, o0, o1}, a);
}
void Builder::scalar_tensor_tensor(const Access& dst, const Access& data, AluOp op0, ScalarOrTile operand0, AluOp op1,
                                   const Access& operand1) {
  Attributes a{.op0 = op0, .op1 = op1};
  const Access o0 = slot_or_immediate(operand0, a.imm0);
  append(Opcode::ScalarTensorTensor, Engine::Vector, {dst, data, o0, operand1}, a);
}
void Builder::tensor_reduce(const Access& dst, AluOp op, const Access& data, std::int64_t reduce_dims, bool negate) {
  append(Opcode::TensorReduce, Engine::Vector, {dst, data}, {.op0 = op, .negate = negate, .reduce_dims = reduce_dims});
}
void Builder::tensor_tensor_scan(const Access& dst, const Access& data0, const Access& data1, ScalarOrTile initial, AluOp op0,
                                 AluOp op1) {
  Attributes a{.op0 = op0, .op1 = op1};
  const Access start = slot_or_immediate(initial, a.imm0);
  append(Opcode::TensorTensorScan, Engine::Vector, {dst, data0, data1, start}, a);
}
void Builder::tensor_copy(const Access& dst, const Access& src, Engine engine) {
  append(Opcode::TensorCopy, engine, {dst, src}, {});
}
void Builder::tensor_copy_predicated(const Access& dst, const Access& src, const Access& predicate, bool reverse_pred) {
  append(Opcode::TensorCopyPredicated, Engine::Vector, {dst, src, predicate}, {.reverse0 = reverse_pred});
}
void Builder::reciprocal(const Access& dst, const Access& data) { append(Opcode::Reciprocal, Engine::Vector, {dst, data}, {}); }
void Builder::memset(const Access& dst, double value, Engine engine) {
  append(Opcode::Memset, engine, {dst}, {.imm0 = value});
}

void Builder::activation(const Access& dst, ActFunction function, const Access& data, ActivationOptions options) {
  Attributes a{.function = function};
  const Access bias = slot_or_immediate(options.bias, a.imm1), scale = slot_or_immediate(options.scale, a.scale);
  if (options.reduce_res.present()) a.reduce_op = AluOp::Add;
  append(Opcode::Activation, Engine::Scalar, {dst, data, bias, scale, options.reduce_res}, a);
}

void Builder::iota(const Access& dst, std::vector<Dim> pattern, std::int64_t offset, std::int64_t channel_multiplier) {
  append(Opcode::Iota, Engine::GpSimd, {dst},
         {.pattern = std::move(pattern), .base = offset, .channel_multiplier = channel_multiplier});
}
void Builder::affine_select(const Access& dst, std::vector<Dim> pattern, std::int64_t offset, std::int64_t channel_multiplier,
                            AluOp cmp_op, const Access& on_true, double on_false) {
  append(Opcode::AffineSelect, Engine::GpSimd, {dst, on_true},
         {.op0 = cmp_op, .imm0 = on_false, .pattern = std::move(pattern), .base = offset, .channel_multiplier = channel_multiplier});
}
void Builder::local_gather(const Access& dst, const Access& src, const Access& index, std::int64_t elements_per_index) {
  append(Opcode::LocalGather, Engine::GpSimd, {dst, src, index}, {.elements_per_index = elements_per_index});
}
void Builder::tensor_partition_reduce(const Access& dst, AluOp op, const Access& data) {
  append(Opcode::TensorPartitionReduce, Engine::GpSimd, {dst, data}, {.op0 = op});
}

Program Builder::finish_unverified() { return Program(std::move(parts_)); }

Program Builder::finish() {
  Program program = finish_unverified();
  verify_or_throw(program, *machine_);
  return program;
}

}  // namespace trn::tile
