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

bool is_dense(const Access& access) {
  const Dim inner = access.merged_dims().back();
  return inner.size == 1 || inner.stride == 1;
}

// Cycles per element of a Vector Engine stream: PSUM operands move one element a cycle; fp32 inputs in SBUF share the
// port, so each adds its own turn. Copies and tensor_scalar of 16-bit floats have modes of their own (ARCH3): the full
// one where both tiles are dense and in SBUF, half of it with a stride or, dense, with one of them in PSUM.
double vector_cycles_per_element(const Program& program, const Instruction& i, const Machine& m) {
  const OpcodeInfo& info = opcode_info(i.opcode());
  int inputs = 0, psum = 0;
  bool narrow = true, dense = true;
  for (std::size_t slot = 0; slot < i.operands.size(); ++slot) {
    const Access& access = i.operands[slot];
    if (!access.present() || (slot > 0 && access.free_size() == 1)) continue;  // one value per partition
    if (info.operands[slot].role == Role::Read) ++inputs;
    psum += in_psum(program, access) ? 1 : 0;
    narrow = narrow && size_bytes(access.dtype) == 2 && is_float(access.dtype);
    dense = dense && is_dense(access);
  }
  if (narrow && (i.as<isa::TensorCopy>() || i.as<isa::TensorScalar>())) {
    const double half = std::max(1.0, m.vector_elements_per_cycle_16bit / 2);
    if (psum == 1 && dense) return 1 / half;
    if (psum == 0 && !dense) return 1 / half;
  }
  if (psum > 0) return 1;
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

// What the formulas of one instruction see.
struct Stream {
  const Program& program;
  const Instruction& i;
  const Machine& m;
  Engine engine;
  double n = static_cast<double>(stream_length(i));

  // An instruction without a formula of its own.
  [[nodiscard]] double plain() const {
    if (engine == Engine::Vector) return n * vector_cycles_per_element(program, i, m) * stride_factor(i, m);
    if (engine == Engine::Scalar) return n * stride_factor(i, m);
    return n;  // GpSimd, ISA: GPSIMD_START + N
  }
};

// Columns of dtype `dtype` through the Tensor Engine.
double tensor_cycles(const Machine& m, double columns, DType dtype, bool transpose) {
  const Timing& t = m.timing;
  if (dtype != DType::Float32) return std::max(columns + t.matmul_overhead_cycles, t.matmul_min_cycles);
  const double factor = transpose && m.pass_through_transpose ? 1 : t.fp32_factor;
  return t.fp32_passes * std::max(factor * columns + t.fp32_overhead_cycles, t.matmul_min_cycles);
}

// Cycles of an instruction on its engine: one overload per instruction.
double cycles(const Stream& s, const isa::NcMatmul& a) {
  const Access& moving = s.i.operands[isa::NcMatmul::moving];
  const double columns = static_cast<double>(moving.free_size()) / (a.perf_mode == MatmulMode::DoubleRow ? 2 : 1);
  return tensor_cycles(s.m, columns, moving.dtype, a.is_transpose);
}
double cycles(const Stream& s, const isa::NcTranspose&) {
  if (s.engine != Engine::Tensor) return s.plain();
  // Its input's partitions stream through as columns of the result.
  const Access& data = s.i.operands[isa::NcTranspose::data];
  return tensor_cycles(s.m, static_cast<double>(data.partitions), data.dtype, true);
}
double cycles(const Stream& s,
              const isa::NcMatmulMx&) {  // ARCH4: four times the bf16 rate, by four values in an element
  return tensor_cycles(s.m, static_cast<double>(s.i.operands[isa::NcMatmulMx::moving].free_size()), DType::BFloat16,
                       false);
}
double cycles(const Stream& s, const isa::Exponential&) {
  // The documented rate is four elements a cycle; operands that stream more slowly hold it up.
  const double each = std::max(s.m.timing.exponential_cycles, vector_cycles_per_element(s.program, s.i, s.m));
  const double least = s.m.timing.engine_min_cycles, n = s.n * each * stride_factor(s.i, s.m);
  if (!s.i.operands[isa::Exponential::reduce_res].present()) return n;
  return std::max(least, n) + least;  // reads the accumulator out
}
double cycles(const Stream& s, const isa::BnStats&) { return s.n; }  // ISA: N
double cycles(const Stream& s, const isa::BnAggr&) { return s.m.timing.bn_aggr_cycles * s.n; }
double cycles(const Stream& s, const isa::QuantizeMx&) {
  return s.m.timing.quantize_mx_cycles * s.n * stride_factor(s.i, s.m);
}
double cycles(const Stream& s, const isa::TensorTensor&) {
  return s.engine == Engine::GpSimd ? s.m.timing.gpsimd_pair_cycles * s.n : s.plain();
}
double cycles(const Stream& s, const isa::TensorScalar& a) {
  if (s.engine == Engine::GpSimd) return s.m.timing.gpsimd_rsqrt_cycles * s.n;  // the only operator it has there
  // The operator costs what the instruction of the same name costs.
  const bool reciprocal = a.op0 == AluOp::Reciprocal || a.op1 == AluOp::Reciprocal;
  return reciprocal && s.engine == Engine::Vector ? s.m.timing.reciprocal_cycles * s.n : s.plain();
}
double cycles(const Stream& s, const isa::Reciprocal&) { return s.m.timing.reciprocal_cycles * s.n; }
double cycles(const Stream& s, const isa::TensorTensorScan&) { return s.m.timing.scan_cycles * s.n; }
double cycles(const Stream& s, const isa::TensorReduce& a) {  // ISA: N, N/2 for sums and maxima of bf16 in bf16
  using I = isa::TensorReduce;
  const bool bf16 = s.i.operands[I::dst].dtype == DType::BFloat16 && s.i.operands[I::data].dtype == DType::BFloat16;
  return bf16 && (a.op == AluOp::Add || a.op == AluOp::Maximum) ? s.n / 2 : s.n;
}
// `cycles`, and the engine's registers read out into reduce_res.
double with_read_out(const Stream& s, double cycles, std::size_t reduce_res) {
  const double least = s.m.timing.engine_min_cycles;
  return s.i.operands[reduce_res].present() ? std::max(least, cycles) + least : cycles;
}
double cycles(const Stream& s, const isa::Activation&) {
  return with_read_out(s, s.plain(), isa::Activation::reduce_res);
}
// ISA: one element a cycle, whatever the dtype.
double cycles(const Stream& s, const isa::TensorScalarReduce& a) {
  const double each = a.op0 == AluOp::Reciprocal ? s.m.timing.reciprocal_cycles : 1;
  return with_read_out(s, each * s.n, isa::TensorScalarReduce::reduce_res);
}
double cycles(const Stream& s, const isa::TensorScalarCumulative& a) {  // not published
  return a.op0 == AluOp::Reciprocal ? s.m.timing.reciprocal_cycles * s.n : s.n;
}
double cycles(const Stream& s, const isa::RangeSelect&) {  // ISA: N
  return with_read_out(s, s.n, isa::RangeSelect::reduce_res);
}
double cycles(const Stream& s, const isa::SelectReduce&) {  // not published: an instruction with two inputs
  return with_read_out(s, s.plain(), isa::SelectReduce::reduce_res);
}
// ISA: N
template <isa::OneOf<isa::Max8, isa::NcFindIndex8, isa::NcMatchReplace8> I> double cycles(const Stream& s, const I&) {
  return s.n;
}
double cycles(const Stream& s, const isa::LocalGather& a) {
  // ISA, read as cycles per element: ((index + element e) / (element e)) / min(element / size, e), e elements an index.
  const Timing& t = s.m.timing;
  const auto e = static_cast<double>(a.elements_per_index);
  const auto size = static_cast<double>(size_bytes(s.i.dst().dtype));
  return static_cast<double>(s.i.dst().free_size()) *
         ((t.gather_index_cycles + t.gather_element_cycles * e) / (t.gather_element_cycles * e)) /
         std::min(t.gather_element_cycles / size, e);
}
double cycles(const Stream& s, const isa::TensorPartitionReduce&) {
  // Not published. Each processor folds its own partitions one after another, then one folds the partial results.
  const auto lanes = static_cast<double>(s.m.partitions) / static_cast<double>(s.m.gpsimd_cores);
  return s.n * (lanes + static_cast<double>(s.m.gpsimd_cores));
}
template <isa::OneOf<isa::ScalarTensorTensor, isa::TensorCopy, isa::TensorCopyPredicated, isa::Memset, isa::Iota,
                     isa::AffineSelect, isa::NonzeroWithCount>
              I>
double cycles(const Stream& s, const I&) {
  return s.plain();
}
double cycles(const Stream& s, const isa::NcNGather&) {
  // Not published. It becomes groups of instructions, each of which begins anew, and gathers element by element.
  const Timing& t = s.m.timing;
  const std::int64_t n = s.i.dst().free_size(), groups = (n + s.m.gather_group - 1) / s.m.gather_group;
  const double each = (t.gather_index_cycles + t.gather_element_cycles) / t.gather_element_cycles;
  const auto size = static_cast<double>(size_bytes(s.i.dst().dtype));
  return static_cast<double>(groups - 1) * t.gpsimd_start_cycles +
         static_cast<double>(n) * each / std::min(t.gather_element_cycles / size, 1.0);
}
double cycles(const Stream& s, const isa::NcStreamShuffle&) { return s.plain(); }
double cycles(const Stream& s, const isa::RegisterMove&) { return s.m.timing.engine_min_cycles; }
template <isa::OneOf<isa::RegisterLoad, isa::RegisterStore> I> double cycles(const Stream& s, const I&) {
  return s.m.timing.register_access_cycles;
}
template <isa::OneOf<isa::DmaCopy, isa::DmaTranspose, isa::DmaCompute> I> double cycles(const Stream& s, const I&) {
  fail<InternalError>("cost: {} is a DMA; its cost is dma_cost", name(s.i.opcode()));
}

// Seconds before the stream: one overload for the instructions that have more of them than the rest.
double overhead(const Stream& s, const isa::Activation& a) {
  const bool plain_copy = a.op == ActFunction::Copy && !s.i.operands[isa::Activation::bias].present() &&
                          !s.i.operands[isa::Activation::scale].present();
  return plain_copy ? 0 : s.m.timing.scalar_function_s;
}
// An operand with one value per partition is read first.
template <isa::OneOf<isa::TensorScalar, isa::ScalarTensorTensor> I> double overhead(const Stream& s, const I&) {
  const bool reads = std::any_of(s.i.operands.begin() + 2, s.i.operands.end(),
                                 [](const Access& a) { return a.present() && a.free_size() == 1; });
  return reads && s.engine == Engine::Vector ? s.m.timing.vector_operand_s : 0;
}
double column_overhead(const Stream& s, std::size_t a, std::size_t b) {
  return s.i.operands[a].present() || s.i.operands[b].present() ? s.m.timing.vector_operand_s : 0;
}
double overhead(const Stream& s, const isa::TensorScalarReduce&) {
  return column_overhead(s, isa::TensorScalarReduce::operand0, isa::TensorScalarReduce::reduce_init);
}
double overhead(const Stream& s, const isa::TensorScalarCumulative&) {
  return column_overhead(s, isa::TensorScalarCumulative::imm0, isa::TensorScalarCumulative::imm1);
}
double overhead(const Stream& s, const isa::SelectReduce&) {
  return column_overhead(s, isa::SelectReduce::on_false, isa::SelectReduce::on_false);
}
double overhead(const Stream& s, const isa::RangeSelect&) {
  return column_overhead(s, isa::RangeSelect::bound0, isa::RangeSelect::bound1);
}
double overhead(const Stream& s, const isa::Exponential&) {
  using I = isa::Exponential;
  return s.i.operands[I::max_value].present() || s.i.operands[I::reduce_init].present() ? s.m.timing.vector_operand_s
                                                                                        : 0;
}

// A register and HBM exchange a value at the latency of a DMA.
template <isa::OneOf<isa::RegisterLoad, isa::RegisterStore> I> double overhead(const Stream& s, const I&) {
  const bool on_chip = s.i.operands[0].is_tile() && s.i.operands[1].is_tile();
  return on_chip ? 0 : s.m.timing.dma_start_s + s.m.timing.dma_end_s;
}
template <class I> double overhead(const Stream&, const I&) { return 0; }

// Bytes of the longest run that is contiguous in the access; a partition ends a run of a tile.
std::int64_t run_bytes(const Access& access) {
  const Dim inner = access.merged_dims().back();
  return (inner.stride == 1 || inner.size == 1 ? inner.size : 1) * size_bytes(access.dtype);
}

// Contiguous runs of an HBM access that lie a page or more from one another.
std::int64_t runs_apart(const Access& access, const Machine& m) {
  if (access.is_tile()) return 0;
  std::int64_t count = 1;
  for (const Dim& d : access.merged_dims()) {
    if (std::abs(d.stride) * size_bytes(access.dtype) >= m.hbm_page_bytes) count *= d.size;
  }
  return count;
}

std::int64_t wider_bytes(const Access& a, const Access& b) {
  return std::max(size_bytes(a.dtype), size_bytes(b.dtype));
}

// What a DMA moves, and how long all DMA engines take together: one overload per DMA instruction.
DmaCost transfer(const Instruction& i, const Machine& m, const isa::DmaTranspose&) {
  const Access &dst = i.operands[isa::DmaTranspose::dst], &src = i.operands[isa::DmaTranspose::src];
  DmaCost cost;
  cost.bytes = src.size() * wider_bytes(dst, src);
  const Timing& t = m.timing;
  const double rate = size_bytes(src.dtype) == 2 ? t.dma_transpose_rate_2byte : t.dma_transpose_rate_4byte;
  cost.transfer_s = static_cast<double>(cost.bytes) / (m.dma_bytes_per_s() * rate);
  return cost;
}
// A copy of `moved`, which is dst or src.
DmaCost transfer(const Instruction& i, const Machine& m, const Access& dst, const Access& src, const Access& moved) {
  const Timing& t = m.timing;
  DmaCost cost;
  cost.bytes = moved.size() * wider_bytes(dst, src);
  const std::int64_t elements =
      std::min(run_bytes(dst) / size_bytes(dst.dtype), run_bytes(src) / size_bytes(src.dtype));
  const std::int64_t runs = (moved.size() + elements - 1) / elements;
  const double bytes = static_cast<double>(elements * wider_bytes(dst, src));
  // A transfer is spread over the engines in shares that are worth a descriptor list of their own.
  const std::int64_t shares = (cost.bytes + m.dma_share_bytes - 1) / m.dma_share_bytes;
  const std::int64_t engines = std::clamp(shares, std::int64_t{1}, m.dma_engines);
  const auto per_engine = [&](std::int64_t count) { return static_cast<double>((count + engines - 1) / engines); };
  const double rate = src.is_tile() ? t.dma_store_bytes_per_s : t.dma_engine_bytes_per_s;
  cost.transfer_s = per_engine(runs) * (t.dma_run_overhead_s + bytes / rate);
  // Where runs lie apart in HBM, a ring waits for each of them in turn; other rings go on meanwhile.
  if (t.dma_hbm_run_overhead_s > 0) {
    const std::int64_t apart = is_indirect(i) ? runs : runs_apart(src.is_tile() ? dst : src, m);
    cost.ring_s = cost.transfer_s + per_engine(apart) * t.dma_hbm_run_overhead_s;
  }
  return cost;
}
DmaCost transfer(const Instruction& i, const Machine& m, const isa::DmaCopy& a) {
  const Access &dst = i.operands[isa::DmaCopy::dst], &src = i.operands[isa::DmaCopy::src];
  return transfer(i, m, dst, src, is_indirect(i) && !a.scatter ? dst : src);  // the indexed side names the whole table
}
// Every source streams through the adders, at their rate.
DmaCost transfer(const Instruction& i, const Machine& m, const isa::DmaCompute& a) {
  using I = isa::DmaCompute;
  const Access& dst = i.operands[I::dst];
  const Access& moved = a.scatter ? i.operands[I::src1] : dst;  // the rows that move, with or without an index
  DmaCost cost;
  for (std::size_t s = I::src0; s < I::index; ++s) {
    if (!i.operands[s].present()) continue;
    const DmaCost one = transfer(i, m, dst, i.operands[s], moved);
    cost.transfer_s += one.transfer_s / m.timing.dma_compute_rate;
    cost.ring_s += one.ring_s;
    cost.bytes += one.bytes;
    if (!i.operands[s].is_tile()) cost.hbm_read_bytes += one.bytes;
    if (!dst.is_tile()) cost.hbm_write_bytes = one.bytes;
  }
  return cost;
}

}  // namespace

double compute_seconds(const Program& program, const Instruction& i, Engine engine, const Machine& m) {
  const Timing& t = m.timing;
  const Stream stream{program, i, m, engine};
  const double n = i.visit([&](const auto& attributes) { return cycles(stream, attributes); });
  const double more = i.visit([&](const auto& attributes) { return overhead(stream, attributes); });
  switch (engine) {
    case Engine::Tensor:
      return n / m.tensor_hz;
    case Engine::Vector:
      return std::max(t.engine_min_cycles / m.vector_hz, n / m.vector_hz + t.vector_fixed_s + more);
    case Engine::Scalar:
      return std::max(t.engine_min_cycles / m.scalar_hz, n / m.scalar_hz + t.scalar_fixed_s + more);
    case Engine::GpSimd:
      return (t.gpsimd_start_cycles + n) / m.gpsimd_hz;
    case Engine::Sync:
      return n / m.gpsimd_hz + more;
    case Engine::Any:
    case Engine::Dma:
      break;
  }
  fail<InternalError>("cost: {} has no compute cost on engine {}", name(i.opcode()), name(engine));
}

DmaCost dma_cost(const Instruction& i, const Machine& m) {
  DmaCost cost = i.visit([&](const auto& attributes) -> DmaCost {
    if constexpr (requires { attributes.route; })
      return transfer(i, m, attributes);
    else
      fail<InternalError>("cost: {} is not a DMA", name(i.opcode()));
  });
  if (!i.as<isa::DmaCompute>()) {
    if (!i.operands[isa::DmaRoute::src].is_tile()) cost.hbm_read_bytes = cost.bytes;
    if (!i.operands[isa::DmaRoute::dst].is_tile()) cost.hbm_write_bytes = cost.bytes;
  }
  switch (dma_route(i)->dge) {
    case DgeMode::Static:
      cost.ring_s += m.timing.dge_static_s;
      break;
    case DgeMode::Hardware:
      cost.ring_s += m.timing.dge_hardware_s;
      break;
    case DgeMode::Software:
      cost.ring_s += m.timing.dge_software_s;
      break;
    case DgeMode::Default:
      fail<InternalError>("cost: a DMA's descriptor source is open; schedule() the program first");
  }
  return cost;
}

DmaCost memory_copy_cost(std::int64_t bytes, const Machine& m) {
  const Timing& t = m.timing;
  const std::int64_t engines =
      std::clamp((bytes + m.dma_share_bytes - 1) / m.dma_share_bytes, std::int64_t{1}, m.dma_engines);
  const auto run = static_cast<double>((bytes + engines - 1) / engines);
  DmaCost cost;
  cost.bytes = cost.hbm_read_bytes = cost.hbm_write_bytes = bytes;
  cost.transfer_s = t.dma_run_overhead_s + run / t.dma_engine_bytes_per_s;
  cost.ring_s = t.dge_static_s;
  return cost;
}

double matmul_flops(const Instruction& i) {
  if (i.as<isa::NcMatmulMx>()) {
    const Access &stationary = i.operands[isa::NcMatmulMx::stationary], &moving = i.operands[isa::NcMatmulMx::moving];
    return 2.0 * 4 * static_cast<double>(stationary.partitions) * static_cast<double>(stationary.free_size()) *
           static_cast<double>(moving.free_size());
  }
  const auto* matmul = i.as<isa::NcMatmul>();
  if (!matmul || matmul->is_transpose) return 0;
  const Access &stationary = i.operands[isa::NcMatmul::stationary], &moving = i.operands[isa::NcMatmul::moving];
  const double pairs = matmul->perf_mode == MatmulMode::DoubleRow ? 2 : 1;
  return 2.0 * static_cast<double>(stationary.partitions) * static_cast<double>(stationary.free_size()) *
         static_cast<double>(moving.free_size()) / pairs;
}

}  // namespace trn::tile
