// The machine tables: trn1, trn2, trn3, a source beside every number.
//
// Sources: ARCH2/3/4 = AWS's NKI architecture guides for trainium_inferentia2 / trainium2 / trainium3; HWC = nkipy's
// HardwareConstants.h; ISA = the nki.isa reference; DMAG = AWS's NKI DMA bandwidth guide; PERF = the NKI performance
// guide; NED = the Neuron Explorer documentation; PANTH = pantheonneuron's published trn1 logs; PROF = neuron-profile
// dumps of trn2 attention kernels, published as github allenkchau/trainium-kernel-fusion; "fit" = our fit to the
// published measurements that `trnsci validate` marks as fitted, explained in docs/simulator.md. "scaled" = no
// measurement exists: the trn2 value moved by the ratio of clocks or widths.
#include <trn/tile/machine.hpp>

#include <array>

#include <trn/core/error.hpp>

namespace trn::tile {

namespace {

constexpr std::int64_t kKiB = 1024, kGiB = 1024 * 1024 * 1024;
constexpr double kNano = 1e-9, kMicro = 1e-6, kGiga = 1e9;

// Facts that all three generations share.
constexpr Machine common() {
  Machine m{};
  m.partitions = 128;            // ARCH2: SBUF and PSUM have 128 partitions, the array is 128 x 128
  m.stationary_free_max = 128;   // ISA nc_matmul
  m.moving_free_max = 512;       // ISA nc_matmul
  m.array_tile_min = 32;         // ISA nc_matmul: 4 x 32 rows or columns from gen3 on
  m.psum_bank_bytes = 2 * kKiB;  // ARCH2: 8 banks of 2 KiB per partition
  m.psum_banks = 8;
  m.vector_free_max_sbuf = 64 * 1024;  // ARCH2
  m.vector_free_max_psum = 4 * 1024;   // ARCH2
  m.gpsimd_cores = 8;                  // ARCH2: processor i serves partitions 16i .. 16i+15
  m.dense_stride_bytes = 16;           // ARCH2: more than 16 bytes halves the bandwidth
  m.free_dims_max = 4;                 // nki access patterns: up to 4 free dimensions
  m.search_free_min = 8;               // ISA max8, nc_find_index8
  m.search_free_max = 16384;           // ISA max8, nc_find_index8; nc_match_replace8 at tag v2.26.1
  m.free_dims_max_two_inputs = 3;      // ISA: tensor_tensor and its like take 1 to 3 free dimensions
  m.bn_stats_max = 512;                // ISA bn_stats
  m.gather_indices_max = 4096;         // ISA local_gather
  m.gather_elements_max = 32;          // ISA local_gather
  m.gather_group = 512;                // ISA nc_n_gather
  m.registers = 64;                    // ISA register_alloc
  m.dma_engines = 16;                  // ARCH2/3/4: per core
  m.dma_share_bytes = 2 * kKiB;        // DMAG: 32 KiB per transfer to use all 16 engines
  m.hbm_page_bytes = 4 * kKiB;         // choice: runs 8 and 16 KiB apart are slow, 800 bytes apart are not
  return m;
}

// Engine overheads that are cycles of the engine's clock. ARCH2 gives about 60 cycles per access of a tensor; published
// trn2 profiles (PROF) agree: a Vector instruction every N / clock + 59 to 64 ns, and twice that overhead when a value
// per partition is read first; its result 85 to 95 ns after the engine is free again.
constexpr double kAccessCycles = 60, kVectorLatencyCycles = 88;
// PROF: copies of 128 and 512 elements every N / clock + 38 to 50 ns, exp of 512 every N / clock + 143 (PSUM) to 184 ns
// (SBUF); results 96 to 121 ns later.
constexpr double kScalarCopyCycles = 54, kScalarFunctionCycles = 140, kScalarLatencyCycles = 132;

constexpr void set_engine_overheads(Machine& m) {
  m.timing.vector_fixed_s = kAccessCycles / m.vector_hz;
  m.timing.vector_operand_s = kAccessCycles / m.vector_hz;
  m.timing.vector_latency_s = kVectorLatencyCycles / m.vector_hz;
  m.timing.scalar_fixed_s = kScalarCopyCycles / m.scalar_hz;
  m.timing.scalar_function_s = kScalarFunctionCycles / m.scalar_hz;
  m.timing.scalar_latency_s = kScalarLatencyCycles / m.scalar_hz;
}

// Timing of trn2: read off, or fitted to, published trn2 measurements; the other machines start from it.
constexpr Timing trn2_timing() {
  Timing t{};
  t.launch_s = 13.3 * kMicro;           // PROF: the first DMA is triggered 13.2 to 13.6 us after the profile begins
  t.finish_s = 1.7 * kMicro;            // PROF: 1.7 us from the last wait to the end of the profile
  t.benchmark_launch_s = 8.3 * kMicro;  // 6.7 us less than both: the median difference of profile and nki.benchmark
  t.semaphore_s = 35 * kNano;      // PROF: 34 to 38 ns from a result to the start of what waited for it, in any queue
  t.matmul_overhead_cycles = 9.7;  // fit: 2048 resident matmuls in 445 us, 521.6 cycles each
  t.matmul_min_cycles = 64;        // ISA: max(min(64, stationary), moving)
  t.fp32_passes = 2;               // PROF: two multiply instructions per fp32 nc_matmul
  t.fp32_factor = 2;
  t.fp32_overhead_cycles = 7;           // fit: 859 ns per 128 x 128 x 512
  t.tensor_latency_s = 160 * kNano;     // PROF: 158 to 162 ns
  t.limiter_window_s = 3.413 * kMicro;  // PROF: changes of the limit lie 4096 cycles of 1.2 GHz apart
  t.limiter_cold_rate = 0.5;  // NED, "Understanding throttling"; PROF: an fp32 pass of 512 in 853 ns, then 431
  t.limiter_warm_use = 0.8;   // fit: 2048^3 naive runs cold throughout; PROF: 0.7 is not enough, 1 is
  t.limiter_cold_use = 0.5;   // NED: re-engages below 50 %; PROF: 0.62 stays warm
  t.tensor_sustained_rate = 1.0;
  t.engine_min_cycles = 64;          // ISA tag v2.26.1: MIN_II; PROF: 67 ns between Vector instructions of 8 elements
  t.gpsimd_start_cycles = 150;       // ISA tag v2.26.1: GPSIMD_START
  t.gpsimd_latency_s = 100 * kNano;  // choice
  t.activation_table_s = 1.28 * kMicro;  // PROF: ACT_TABLE_LOAD
  t.reciprocal_cycles = 8;               // ISA tag v2.26.1: 8 N; PROF: 8.2 per element
  t.scan_cycles = 2;                     // ISA tag v2.26.1: 2 N; a recurrence gains nothing from width
  t.exponential_cycles = 0.25;           // ARCH4: four times the Scalar Engine's throughput
  t.bn_aggr_cycles = 13.0 / 3;           // ISA tag v2.26.1: 13 N / 3
  t.quantize_mx_cycles = 0.25;           // ARCH4: four elements per partition and cycle
  t.gpsimd_pair_cycles = 2;              // ISA tag v2.26.1: two inputs
  t.gpsimd_rsqrt_cycles = 4;             // ISA: four times the Scalar Engine's time
  t.gather_index_cycles = 28;            // ISA local_gather
  t.gather_element_cycles = 4;
  t.dma_start_s = 1.3 * kMicro;           // DMAG: about 1300 ns; PROF: 1.24 to 1.40 with hardware descriptors
  t.dma_start_software_s = 2.0 * kMicro;  // PROF: 1.2 to 1.3 until GpSimd triggers, then 0.63 to 0.78 to the first byte
  t.dma_end_s = 0.5 * kMicro;             // PROF: 0.31 to 0.60
  t.dma_engine_bytes_per_s = 23 * kGiga;  // DMAG: achievable, out of HBM
  t.dma_store_bytes_per_s = 27.2 * kGiga;  // DMA overview: per engine; PROF: packets of 2048 bytes every 80 ns
  t.dma_run_overhead_s = 4.7 * kNano;      // PROF: packets of 512, 2048 and 4096 bytes every 23.5, 80 and 155 ns
  t.dma_hbm_run_overhead_s = 0;
  t.dma_transpose_rate_2byte = 0.9;   // ISA: up to 90 % of DMA throughput, 2-byte types
  t.dma_transpose_rate_4byte = 0.45;  // choice: not published
  t.dge_static_s = 0.03 * kMicro;     // published trace: 30 ns from the engine to the trigger
  t.dge_hardware_s =
      0.62 * kMicro;  // PROF: triggers take 0.52 to 0.61 and lie 0.04 to 0.07 apart; documented about 0.6
  t.dge_software_s = 0.58 * kMicro;  // PROF: GpSimd's triggers follow one another every 0.58 us
  t.dma_compute_rate = 0.5;          // ARCH4: a DMA that adds reaches half the throughput before trn3
  t.register_access_cycles = 600;    // choice: ISA tag v2.26.1 printed 600 for instructions with a dynamic address
  t.branch_s = 53 * kNano;           // choice: 64 cycles of 1.2 GHz, the least that any instruction takes
  return t;
}

constexpr Machine trn1() {
  Machine m = common();
  m.name = "trn1";
  m.core = "NeuronCore-v2";
  m.tensor_hz = 2.8 * kGiga;  // ARCH2 tables
  m.vector_hz = 1.12 * kGiga;
  m.scalar_hz = 1.4 * kGiga;
  m.gpsimd_hz = 1.4 * kGiga;
  m.sbuf_bytes_per_partition = 180224;  // HWC
  m.hbm_bytes_per_chip = 32 * kGiB;     // ARCH2
  m.hbm_stacks = 2;                     // ARCH2
  m.cores_per_chip = 2;
  m.hbm_bytes_per_s_per_core = 410 * kGiga;  // profiler's denominator on trn1 (91.75e12 / 223.78)
  m.array_tile_min = 64;                     // ISA nc_matmul: 2 x 64 rows or columns
  m.double_row = false;                      // ISA: gen3 and later
  m.pass_through_transpose = false;          // ISA: is_transpose is gen3 and later
  m.dma_transpose = false;                   // documented as much slower before trn2
  m.hardware_dge = false;                    // ARCH3: new there
  m.indirect_dma = false;                    // ISA dma_copy: gen3 and later
  m.range_select = false;                    // ISA range_select: gen3 and later
  m.nonzero_with_count = false;              // ISA nonzero_with_count: gen3 and later
  m.accumulate_onto_writes = false;          // ISA nc_matmul: undefined on gen2 and gen3
  m.float8_e4m3fn = false;                   // gen4
  m.microscaling = false;                    // gen4
  m.vector_exponential = false;              // gen4
  m.abs_max_min = false;                     // gen4
  m.vector_gpsimd_share_port = true;         // ARCH2
  m.vector_scalar_share_psum = true;         // ARCH2
  m.square_relu_in_tensor_scalar = false;    // RN 0.4: trn3
  m.activation_bias_immediate = false;       // ARCH3: scalar bias is new there
  m.matmul_spans_banks = false;
  m.scalar_tensor_copy = false;          // ARCH3: new there
  m.vector_elements_per_cycle_fp32 = 1;  // ARCH2: 128 elements per cycle over 128 lanes
  m.vector_elements_per_cycle_16bit = 1;
  m.vector_pairs_per_cycle_16bit = 1;  // ISA tag v2.26.1: N cycles for two bf16 inputs, 2N for fp32
  m.timing = trn2_timing();
  set_engine_overheads(m);
  m.timing.limiter_cold_rate = 1.0;                // PANTH: trn1 caps the sustained rate instead
  m.timing.tensor_sustained_rate = 0.86;           // PANTH: 78.6 of 91.75 TF sustained
  m.timing.dma_engine_bytes_per_s = 17.2 * kGiga;  // PANTH: 273 to 275 GB/s streaming over 16 engines; DMAG: 272
  m.timing.dma_store_bytes_per_s = 17.2 * kGiga;
  m.timing.dma_run_overhead_s = 2.2 * kNano;     // fit: vector add of 200 x (128, 1)
  m.timing.dma_hbm_run_overhead_s = 85 * kNano;  // fit: loads of matrix rows, 256 bytes and 1 KiB
  m.timing.benchmark_launch_s = 13.3 * kMicro;   // fit: vector add of (128, 200)
  m.timing.dma_transpose_rate_2byte = 0.1;       // documented as much slower before trn2; the factor is a choice
  m.timing.dma_transpose_rate_4byte = 0.05;
  return m;
}

constexpr Machine trn2() {
  Machine m = common();
  m.name = "trn2";
  m.core = "NeuronCore-v3";
  m.tensor_hz = 2.4 * kGiga;  // ARCH3 tables
  m.vector_hz = 0.96 * kGiga;
  m.scalar_hz = 1.2 * kGiga;
  m.gpsimd_hz = 1.2 * kGiga;
  m.sbuf_bytes_per_partition = 212984;  // HWC
  m.hbm_bytes_per_chip = 96 * kGiB;     // ARCH3
  m.hbm_stacks = 4;                     // ARCH3; trn3 has as many
  m.cores_per_chip = 8;
  m.hbm_bytes_per_s_per_core = 716 * kGiga;  // profiler's denominator on trn2: one stack
  m.double_row = true;
  m.pass_through_transpose = true;
  m.dma_transpose = true;  // ISA dma_transpose: trn2 and later
  m.indirect_dma = true;
  m.range_select = true;
  m.nonzero_with_count = true;
  m.accumulate_onto_writes = false;  // ISA nc_matmul: undefined on gen2 and gen3
  m.hardware_dge = true;             // two hardware descriptor generators per core
  m.float8_e4m3fn = false;
  m.microscaling = false;
  m.vector_exponential = false;
  m.abs_max_min = false;
  m.vector_gpsimd_share_port = false;  // ARCH3: lifted
  m.vector_scalar_share_psum = false;
  m.square_relu_in_tensor_scalar = false;
  m.activation_bias_immediate = true;
  m.matmul_spans_banks = false;
  m.scalar_tensor_copy = true;
  m.vector_elements_per_cycle_fp32 = 2;   // ARCH3: 256 elements per cycle; measured in published trn2 profiles
  m.vector_elements_per_cycle_16bit = 4;  // ARCH3: 512 elements per cycle for bf16/fp16
  m.vector_pairs_per_cycle_16bit = 2;     // ARCH3: tensor_tensor twice as fast when all operands are bf16/fp16
  m.timing = trn2_timing();
  set_engine_overheads(m);
  return m;
}

constexpr Machine trn3() {
  Machine m = trn2();
  m.name = "trn3";
  m.core = "NeuronCore-v4";
  m.vector_hz = 1.2 * kGiga;                  // ARCH4 tables; the other clocks equal trn2's
  m.moving_free_max = 4096;                   // ISA nc_matmul on gen4, fp32 destination: spans PSUM banks
  m.sbuf_bytes_per_partition = 245752;        // HWC
  m.hbm_bytes_per_chip = 144 * kGiB;          // ARCH4
  m.hbm_bytes_per_s_per_core = 1200 * kGiga;  // 4.8 TB/s over 4 stacks, one stack per two cores as on trn2
  m.accumulate_onto_writes = true;            // ISA nc_matmul: the ban names gen2 and gen3 only
  m.float8_e4m3fn = true;
  m.microscaling = true;        // ISA nc_matmul_mx, quantize_mx: gen4
  m.vector_exponential = true;  // ISA exponential: gen4
  m.abs_max_min = true;
  m.square_relu_in_tensor_scalar = true;
  m.matmul_spans_banks = true;  // ISA nc_matmul on gen4; ARCH4: bfloat16 accumulation
  set_engine_overheads(m);
  m.timing.dma_engine_bytes_per_s = 33 * kGiga;   // DMAG: achievable
  m.timing.dma_store_bytes_per_s = 38.4 * kGiga;  // DMA overview: per engine
  m.timing.dma_compute_rate = 1.0;                // ARCH4: adds at the full rate
  return m;
}

const std::array<Machine, 3>& table() {
  static constexpr std::array<Machine, 3> machines{trn1(), trn2(), trn3()};
  return machines;
}

}  // namespace

double Machine::tensor_flops(DType dtype) const {
  const double bf16 = 2.0 * static_cast<double>(partitions) * static_cast<double>(stationary_free_max) * tensor_hz;
  if (dtype == DType::Float32) return bf16 / 4;
  if (is_fp8(dtype) && double_row) return bf16 * 2;
  return bf16;
}

double Machine::dma_bytes_per_s() const { return static_cast<double>(dma_engines) * timing.dma_engine_bytes_per_s; }

isa::ArrayTile array_tile(const Instruction& instruction, const Machine& machine) {
  if (const auto* a = instruction.as<isa::NcMatmul>()) return a->tile;
  const auto* mx = instruction.as<isa::NcMatmulMx>();
  if (!mx) return {};
  return {mx->tile_row, 0, mx->tile_rows, mx->tile_rows == 0 ? 0 : machine.stationary_free_max};
}

std::span<const Machine> machines() { return table(); }

const Machine& machine(std::string_view wanted) {
  std::string known;
  for (const Machine& m : table()) {
    if (m.name == wanted) return m;
    known += known.empty() ? std::string(m.name) : fmt::format(", {}", m.name);
  }
  fail<InvalidArgument>("machine: '{}' is not known; choose one of {}", wanted, known);
}

}  // namespace trn::tile
