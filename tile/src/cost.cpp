// The cost formulas. N is the number of elements per partition that stream through the engine.
#include <trn/tile/cost.hpp>

#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

bool in_psum(const Program& program, const Access& access) {
  return access.is_tile() && program.tiles()[static_cast<std::size_t>(access.id)].space == Space::Psum;
}

double tensor_seconds(const Instruction& i, const Machine& m) {
  const Timing& t = m.timing;
  const Access& streamed = i.operands[i.opcode == Opcode::NcTranspose ? 1 : 2];
  // A transpose streams its input's partitions as columns of the result.
  const bool transpose = i.opcode == Opcode::NcTranspose || i.attributes.is_transpose;
  double n = static_cast<double>(i.opcode == Opcode::NcTranspose ? streamed.partitions : streamed.free_size());
  if (i.attributes.perf_mode == MatmulMode::DoubleRow) n /= 2;
  double cycles;
  if (streamed.dtype == DType::Float32) {
    const double factor = transpose && m.pass_through_transpose ? 1 : t.fp32_factor;
    cycles = t.fp32_passes * std::max(factor * n + t.fp32_overhead_cycles, t.matmul_min_cycles);
  } else {
    cycles = std::max(n + t.matmul_overhead_cycles, t.matmul_min_cycles);
  }
  return cycles / m.tensor_hz;
}

// Cycles per element of a Vector Engine stream: PSUM operands move one element a cycle; fp32 inputs in SBUF share the port,
// so each adds its own turn.
double vector_cycles_per_element(const Program& program, const Instruction& i, const Machine& m) {
  const OpcodeInfo& info = opcode_info(i.opcode);
  int inputs = 0;
  bool psum = false, narrow = true;
  for (std::size_t slot = 0; slot < i.operands.size(); ++slot) {
    const Access& access = i.operands[slot];
    if (!access.present() || (info.operands[slot].role == Role::Read && access.free_size() == 1)) continue;
    if (info.operands[slot].role == Role::Read) ++inputs;
    psum = psum || in_psum(program, access);
    narrow = narrow && size_bytes(access.dtype) == 2 && is_float(access.dtype);
  }
  if (psum) return 1;
  if (narrow) return 1 / (inputs > 1 ? m.vector_pairs_per_cycle_16bit : m.vector_elements_per_cycle_16bit);
  return std::max(1, inputs) / m.vector_elements_per_cycle_fp32;
}

// A wide innermost stride halves the bandwidth of the memory interface.
double stride_factor(const Instruction& i, const Machine& m) {
  for (const Access& access : i.operands) {
    if (!access.present()) continue;
    const Dim inner = access.merged_dims().back();
    if (inner.size > 1 && std::abs(inner.stride) * size_bytes(access.dtype) > m.dense_stride_bytes) return 2;
  }
  return 1;
}

std::int64_t stream_length(const Instruction& i) {
  std::int64_t n = 1;
  for (const Access& access : i.operands) {
    if (access.present()) n = std::max(n, access.free_size());
  }
  return n;
}

double vector_seconds(const Program& program, const Instruction& i, const Machine& m) {
  const Timing& t = m.timing;
  const auto n = static_cast<double>(stream_length(i));
  double cycles = n * vector_cycles_per_element(program, i, m) * stride_factor(i, m);
  if (i.opcode == Opcode::Reciprocal) cycles = 8 * n;                 // ISA: 8N
  if (i.opcode == Opcode::TensorTensorScan) cycles = 2 * n;           // ISA: 2N; a recurrence gains nothing from width
  if (i.opcode == Opcode::TensorReduce) {                             // ISA: N, N/2 for 16-bit
    cycles = size_bytes(i.operands[1].dtype) == 2 ? n / 2 : n;
  }
  return std::max(t.engine_min_cycles, cycles) / m.vector_hz + t.vector_fixed_s;
}

double scalar_seconds(const Instruction& i, const Machine& m) {
  const Timing& t = m.timing;
  double cycles = std::max(t.engine_min_cycles, static_cast<double>(stream_length(i)) * stride_factor(i, m));
  if (i.opcode == Opcode::Activation && i.operands[4].present()) cycles += t.engine_min_cycles;  // reads the accumulator out
  return cycles / m.scalar_hz + t.scalar_fixed_s;
}

double gpsimd_seconds(const Instruction& i, const Machine& m) {
  const auto n = static_cast<double>(stream_length(i));
  double cycles = n;  // ISA: GPSIMD_START + N
  if (i.opcode == Opcode::TensorTensor) cycles = 2 * n;
  if (i.opcode == Opcode::TensorScalar) cycles = 4 * n;  // rsqrt: four times the Scalar Engine's time
  if (i.opcode == Opcode::LocalGather) {
    // ISA, read as cycles per element: ((28 + 4e) / 4e) / min(4 / size, e) for e elements per index.
    const auto e = static_cast<double>(i.attributes.elements_per_index);
    const auto size = static_cast<double>(size_bytes(i.dst().dtype));
    cycles = static_cast<double>(i.dst().free_size()) * ((28 + 4 * e) / (4 * e)) / std::min(4 / size, e);
  }
  if (i.opcode == Opcode::TensorPartitionReduce) {
    // Not published. Each processor folds its own partitions one after another, then one folds the partial results.
    const auto lanes = static_cast<double>(m.partitions) / static_cast<double>(m.gpsimd_cores);
    cycles = n * (lanes + static_cast<double>(m.gpsimd_cores));
  }
  return (m.timing.gpsimd_start_cycles + cycles) / m.gpsimd_hz;
}

// Bytes of the longest run that is contiguous in the access; a partition ends a run of a tile.
std::int64_t run_bytes(const Access& access) {
  const Dim inner = access.merged_dims().back();
  return (inner.stride == 1 || inner.size == 1 ? inner.size : 1) * size_bytes(access.dtype);
}

}  // namespace

double compute_seconds(const Program& program, const Instruction& i, Engine engine, const Machine& m) {
  switch (engine) {
    case Engine::Tensor: return tensor_seconds(i, m);
    case Engine::Vector: return vector_seconds(program, i, m);
    case Engine::Scalar: return scalar_seconds(i, m);
    case Engine::GpSimd: return gpsimd_seconds(i, m);
    case Engine::Any:
    case Engine::Dma: break;
  }
  fail<InternalError>("cost: {} has no compute cost on engine {}", opcode_info(i.opcode).name, name(engine));
}

DmaCost dma_cost(const Instruction& i, const Machine& m) {
  const Timing& t = m.timing;
  const Access &dst = i.operands[0], &src = i.operands[1];
  DmaCost cost;
  const bool indirect = i.opcode == Opcode::DmaCopy && i.operands[2].present();
  const Access& moved = indirect && !i.attributes.scatter ? dst : src;  // the indexed side names the whole table
  cost.bytes = moved.size() * std::max(size_bytes(dst.dtype), size_bytes(src.dtype));
  if (i.opcode == Opcode::DmaTranspose) {
    const double rate = size_bytes(src.dtype) == 2 ? t.dma_transpose_rate_2byte : t.dma_transpose_rate_4byte;
    cost.transfer_s = static_cast<double>(cost.bytes) / (m.dma_bytes_per_s() * rate);
  } else {
    const std::int64_t elements = std::min(run_bytes(dst) / size_bytes(dst.dtype), run_bytes(src) / size_bytes(src.dtype));
    const std::int64_t runs = (moved.size() + elements - 1) / elements;
    const double bytes = static_cast<double>(elements * std::max(size_bytes(dst.dtype), size_bytes(src.dtype)));
    const auto per_engine = static_cast<double>((runs + m.dma_engines - 1) / m.dma_engines);
    cost.transfer_s = per_engine * (t.dma_run_overhead_s + bytes / t.dma_engine_bytes_per_s);
  }
  switch (i.attributes.dge) {
    case DgeMode::Static: cost.ring_s = t.dge_static_s; break;
    case DgeMode::Hardware: cost.ring_s = t.dge_hardware_s; break;
    case DgeMode::Software: cost.ring_s = t.dge_software_s; break;
    case DgeMode::Default: fail<InternalError>("cost: a DMA's descriptor source is open; schedule() the program first");
  }
  return cost;
}

double matmul_flops(const Instruction& i) {
  if (i.opcode != Opcode::NcMatmul || i.attributes.is_transpose) return 0;
  const Access &stationary = i.operands[1], &moving = i.operands[2];
  const double pairs = i.attributes.perf_mode == MatmulMode::DoubleRow ? 2 : 1;
  return 2.0 * static_cast<double>(stationary.partitions) * static_cast<double>(stationary.free_size()) *
         static_cast<double>(moving.free_size()) / pairs;
}

}  // namespace trn::tile
