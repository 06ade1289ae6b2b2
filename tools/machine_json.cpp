// The machine of a run, as JSON: see machine_json.hpp.
#include "machine_json.hpp"

#include <omp.h>
#include <nlohmann/json.hpp>

#include <trn/core/instruction_set.hpp>
#include <trn/tile/fabric.hpp>
#include <trn/tile/machine.hpp>

namespace trn::tools {

namespace {

using Json = nlohmann::ordered_json;

Json geometry(const tile::Machine& m) {
  return {{"machine", m.name},
          {"core", m.core},
          {"partitions", m.partitions},
          {"stationary_free_max", m.stationary_free_max},
          {"moving_free_max", m.moving_free_max},
          {"sbuf_bytes_per_partition", m.sbuf_bytes_per_partition},
          {"psum_bytes_per_partition", m.psum_bytes_per_partition()},
          {"psum_banks", m.psum_banks},
          {"hbm_bytes_per_chip", m.hbm_bytes_per_chip},
          {"hbm_stacks", m.hbm_stacks},
          {"cores_per_chip", m.cores_per_chip},
          {"dma_engines", m.dma_engines}};
}

// Those that a modelled time depends on most; tile/src/machine.cpp has all of them with their sources.
Json constants(const tile::Machine& m) {
  const tile::Timing& t = m.timing;
  return {{"tensor_hz", m.tensor_hz},
          {"vector_hz", m.vector_hz},
          {"scalar_hz", m.scalar_hz},
          {"gpsimd_hz", m.gpsimd_hz},
          {"tensor_flops_fp32", m.tensor_flops(DType::Float32)},
          {"tensor_flops_bf16", m.tensor_flops(DType::BFloat16)},
          {"dma_bytes_per_s", m.dma_bytes_per_s()},
          {"hbm_bytes_per_s_per_core", m.hbm_bytes_per_s_per_core},
          {"launch_s", t.launch_s},
          {"finish_s", t.finish_s},
          {"semaphore_s", t.semaphore_s},
          {"matmul_overhead_cycles", t.matmul_overhead_cycles},
          {"matmul_min_cycles", t.matmul_min_cycles},
          {"vector_fixed_s", t.vector_fixed_s},
          {"scalar_fixed_s", t.scalar_fixed_s},
          {"dma_start_s", t.dma_start_s},
          {"dma_end_s", t.dma_end_s},
          {"dma_run_overhead_s", t.dma_run_overhead_s}};
}

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

void add_machine(Json& object) {
  std::string name = text_of(object, "machine");
  if (name.empty()) name = text_of(object, "executor");
  if (name.starts_with("sim:")) name = name.substr(4);
  name = name.substr(0, name.find('#'));  // one of several of this kind
  if (name.empty()) name = "host";        // a comparison, for instance
  for (const tile::Fabric& f : tile::fabrics()) {
    if (f.name == name) name = f.machine;
  }
  if (name == "host") {
    object["geometry"] = {{"machine", "host"}, {"threads", omp_get_max_threads()}, {"simd", instruction_set()}};
    object["constants"] = Json::object();
  }
  for (const tile::Machine& m : tile::machines()) {
    if (m.name != name) continue;
    object["geometry"] = geometry(m);
    object["constants"] = constants(m);
  }
}

}  // namespace trn::tools
