// Machine: everything the suite knows about a NeuronCore generation, as data. machine.cpp holds the three tables with a
// source beside every number; no other file contains a hardware number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <trn/tile/instruction.hpp>

namespace trn::tile {

// Modelled time. docs/simulator.md derives each number. Seconds, cycles of the engine's own clock, or bytes per second.
struct Timing {
  // Outside the instructions, by kind of measurement: a profiler's total has `launch` before the first instruction and
  // `finish` after the last result; a benchmark's latency has `benchmark_launch` in all.
  double launch_s, finish_s;
  double benchmark_launch_s;
  double semaphore_s;  // from a result being there to an instruction that waited for it
  // Tensor Engine, cycles of one pass: moving size + overhead, never less than the minimum. fp32 operands take
  // fp32_passes passes of fp32_factor * moving size + fp32_overhead; an fp32 transpose as many of moving size +
  // overhead.
  double matmul_overhead_cycles, matmul_min_cycles;
  double fp32_passes, fp32_factor, fp32_overhead_cycles;
  double tensor_latency_s;  // from the end of a pass to PSUM being readable
  // The array's rate limiter: cold until one window is at least `warm_use` busy, cold again after one under `cold_use`.
  double limiter_window_s, limiter_cold_rate, limiter_warm_use, limiter_cold_use;
  double tensor_sustained_rate;  // constant cap on the array's rate
  // Vector, Scalar, GpSimd. The engine is occupied max(min_cycles, cycles + fixed); the result is there `latency`
  // later.
  double engine_min_cycles;
  double vector_fixed_s, vector_latency_s;
  double vector_operand_s;  // more when an operand is one value per partition, read before the stream
  double scalar_fixed_s, scalar_latency_s;
  double scalar_function_s;  // more for an activation than for a plain copy
  double gpsimd_start_cycles, gpsimd_latency_s;
  double activation_table_s;  // when the Scalar Engine changes to another function
  // Cycles per element of the instructions that are not plain streams.
  double reciprocal_cycles, scan_cycles;
  double exponential_cycles, bn_aggr_cycles, quantize_mx_cycles;
  double gpsimd_pair_cycles, gpsimd_rsqrt_cycles;
  double gather_index_cycles, gather_element_cycles;  // local_gather, see cost.cpp
  // DMA. A transfer of R contiguous runs of b bytes takes ceil(R / engines) * (run_overhead + b / engine rate). Its
  // ring is taken that long and hbm_run_overhead more for every contiguous run on its HBM side, where that is not 0.
  double dma_start_s;             // from the trigger to the first byte
  double dma_start_software_s;    // the same when GpSimd makes the descriptors
  double dma_end_s;               // from the last byte to the consumer seeing it
  double dma_engine_bytes_per_s;  // out of HBM
  double dma_store_bytes_per_s;   // out of SBUF
  double dma_run_overhead_s, dma_hbm_run_overhead_s;
  double dma_transpose_rate_2byte, dma_transpose_rate_4byte;  // fraction of the copy rate
  // Time of one dma_copy in the queue that triggers it, by descriptor source.
  double dge_static_s, dge_hardware_s, dge_software_s;
  double dma_compute_rate;        // of a DMA that adds, as a fraction of the copy rate
  double register_access_cycles;  // of the Sync Engine, taken at GpSimd's clock: register_load, register_store
  double branch_s;                // of every engine, before each iteration of a dynamic loop and when it ends
};

struct Machine {
  std::string_view name;  // "trn2"
  std::string_view core;  // "NeuronCore-v3"
  // Clocks, Hz
  double tensor_hz, vector_hz, scalar_hz, gpsimd_hz;
  // Geometry
  std::int64_t partitions;
  std::int64_t stationary_free_max;       // M of nc_matmul
  std::int64_t moving_free_max;           // N of nc_matmul
  std::int64_t array_tile_min;            // rows or columns of the smallest part of the Tensor Engine's array
  std::int64_t sbuf_bytes_per_partition;  // usable
  std::int64_t psum_bank_bytes;           // per partition
  std::int64_t psum_banks;
  std::int64_t vector_free_max_sbuf;  // elements per partition of one Vector/Scalar instruction
  std::int64_t vector_free_max_psum;
  std::int64_t gpsimd_cores;              // groups of partitions / gpsimd_cores lanes
  std::int64_t dense_stride_bytes;        // innermost strides up to this keep the full memory bandwidth
  std::int64_t free_dims_max;             // dimensions of an engine access pattern
  std::int64_t free_dims_max_two_inputs;  // the same for instructions that read two tiles
  std::int64_t search_free_min;           // elements per partition of max8 and nc_find_index8
  std::int64_t search_free_max;           // the same, and of nc_match_replace8
  std::int64_t bn_stats_max;              // elements per partition of bn_stats
  std::int64_t gather_indices_max;        // local_gather
  std::int64_t gather_elements_max;       // elements per index of local_gather
  std::int64_t gather_group;              // elements of one of the instructions that an nc_n_gather becomes
  std::int64_t registers;                 // of 32 bits, per sequencer
  // HBM and DMA
  std::int64_t hbm_bytes_per_chip;
  std::int64_t hbm_stacks;  // of a chip; each belongs to cores_per_stack() cores
  std::int64_t cores_per_chip;
  std::int64_t dma_engines;         // per core
  std::int64_t dma_share_bytes;     // of one engine, at least, before a transfer is spread over more
  std::int64_t hbm_page_bytes;      // runs this far apart are fetched one by one
  double hbm_bytes_per_s_per_core;  // what a core can draw: the roof's slope
  // Abilities
  bool double_row;              // fp8 matmul with contraction 256
  bool pass_through_transpose;  // nc_transpose is bit-exact and needs no identity
  bool dma_transpose;           // at useful speed
  bool hardware_dge;            // descriptors made by hardware; otherwise by the runtime
  bool indirect_dma;            // gathers and scatters
  bool range_select;            // the instruction
  bool nonzero_with_count;      // the instruction
  bool accumulate_onto_writes;  // a matmul may add to PSUM that another engine wrote
  bool float8_e4m3fn;
  bool microscaling;                       // quantize_mx, nc_matmul_mx
  bool vector_exponential;                 // exponential
  bool abs_max_min;                        // ALU abs_max / abs_min
  bool square_relu_in_tensor_scalar;       // as op0
  bool activation_bias_immediate;          // activation takes a number as bias, not only a tile
  bool matmul_spans_banks;                 // a matmul may write several PSUM banks, and bfloat16
  bool vector_gpsimd_share_port;           // they take turns on SBUF
  bool vector_scalar_share_psum;           // they take turns on PSUM
  bool scalar_tensor_copy;                 // Scalar Engine runs tensor_copy / tensor_scalar itself
  double vector_elements_per_cycle_fp32;   // per lane, SBUF to SBUF
  double vector_elements_per_cycle_16bit;  // per lane, 16-bit float operands in SBUF, one input
  double vector_pairs_per_cycle_16bit;     // the same with two inputs
  Timing timing;

  // What the cores of one stack have between them; a core keeps its arrays there.
  [[nodiscard]] std::int64_t hbm_bytes_per_stack() const { return hbm_bytes_per_chip / hbm_stacks; }
  [[nodiscard]] std::int64_t cores_per_stack() const { return cores_per_chip / hbm_stacks; }
  [[nodiscard]] std::int64_t psum_bytes_per_partition() const { return psum_bank_bytes * psum_banks; }
  // Peak of the Tensor Engine for operands of this dtype, flop/s: 2 * 128 * 128 * clock, a quarter of it for fp32,
  // twice it for fp8 with double rows.
  [[nodiscard]] double tensor_flops(DType dtype) const;
  // The same for microscaling operands, four values in each element.
  [[nodiscard]] double mx_flops() const { return 4 * tensor_flops(DType::BFloat16); }
  [[nodiscard]] double dma_bytes_per_s() const;  // all engines together
};

// The part of the Tensor Engine's array that a matmul uses; the whole of it for every other instruction.
[[nodiscard]] isa::ArrayTile array_tile(const Instruction& instruction, const Machine& machine);

[[nodiscard]] std::span<const Machine> machines();
// "trn1", "trn2", "trn3"; throws InvalidArgument that lists them.
[[nodiscard]] const Machine& machine(std::string_view name);

}  // namespace trn::tile
