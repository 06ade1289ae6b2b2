// `trnsci mp2-model`: modelled time of the MP2 part of a molecule of a given size, stage by stage and engine by engine,
// on one core or on the eight of a chip.
//
// The programs are those that `trnsci mp2 --exec sim:...` launches, estimated without arithmetic: the two products of
// the half transforms chunk by chunk, the products of the blocked solve orbital by orbital, the pair energies. What the
// host does between launches (statistics, joins, copies) is not modelled.
//
// Eight cores. Fitting functions are shared out for the transforms, orbitals for the solve. For the energies the
// orbitals are cut into four blocks: six cores take one pair of blocks each, two take two blocks' own pairs. A core
// reads panels of B that others made. The chip's HBM is one address space of stacks that two cores share, so nothing
// must be copied; the table says what a copy of each core's panels would cost, and what bringing all of B from the host
// costs.
#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/report.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/host_link.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/format.hpp"

namespace trn::tools {

namespace {

using neuron::report::bytes_text;

constexpr std::int64_t kChunkElements = std::int64_t{1} << 24,
                       kSolveRows = 64;  // as in apps/mp2/src/fit.cpp and blas/src/exact_level3.cpp

struct Arguments {
  std::int64_t nocc = 21, naux = 420, nvir = 93, functions = 0, moduli = 17;
  int cores = 1;
  std::string precision = "exact", machine = "trn2", json;
};

// Programs one after the other on one core.
struct Cost {
  double seconds = 0, read = 0, written = 0;
  std::map<std::string, double> busy;
  std::int64_t launches = 0;

  void add(const neuron::RunReport& r, double times) {
    seconds += times * r.seconds;
    read += times * static_cast<double>(r.hbm_read_bytes);
    written += times * static_cast<double>(r.hbm_write_bytes);
    launches += static_cast<std::int64_t>(times);
    busy["dma"] += times * r.dma_active_seconds;
    for (const neuron::Lane& lane : r.lanes) busy[lane.name] += times * lane.busy_s;
  }
};

class Model {
 public:
  Model(const Arguments& a, const tile::Machine& machine)
      : a_(a), machine_(machine), n_(a.functions > 0 ? a.functions : a.nocc + a.nvir) {}

  // Half transforms of `count` fitting functions.
  Cost transform(std::int64_t count) {
    Cost cost;
    const std::int64_t most = std::max<std::int64_t>(1, kChunkElements / (n_ * n_));
    for (std::int64_t first = 0; first < count; first += most) {
      const std::int64_t some = std::min(most, count - first);
      cost.add(product(a_.nocc, some * n_, n_), 1);
      cost.add(product(a_.nocc * some, a_.nvir, n_), 1);
    }
    return cost;
  }
  // The solve of `count` orbitals: per block of rows the product with what is known, and four with the block on the
  // diagonal or its inverse.
  Cost solve(std::int64_t count) {
    Cost cost;
    const auto times = static_cast<double>(count);
    for (std::int64_t r = 0; r < a_.naux; r += kSolveRows) {
      const std::int64_t rows = std::min(kSolveRows, a_.naux - r);
      if (r > 0) cost.add(product(rows, a_.nvir, r), times);
      cost.add(product(rows, a_.nvir, rows), 4 * times);
    }
    return cost;
  }
  Cost energies(std::int64_t nocc, std::int64_t left, double times = 1) {
    Cost cost;
    const tile::Program program = a_.precision == "exact"
                                      ? blas::sliced_pair_energy_program({nocc, a_.naux, a_.nvir, left}, machine_)
                                      : blas::pair_energy_program({.mode = Precision::parse(a_.precision).mode(),
                                                                   .nocc = nocc,
                                                                   .naux = a_.naux,
                                                                   .nvir = a_.nvir,
                                                                   .left = left},
                                                                  machine_);
    cost.add(neuron::estimate(program, machine_), times);
    return cost;
  }

 private:
  const neuron::RunReport& product(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::vector<std::int64_t> key{m, n, k};
    const auto found = products_.find(key);
    if (found != products_.end()) return found->second;
    const auto moduli = static_cast<int>(a_.moduli);
    const blas::ExactShape shape{.moduli = moduli,
                                 .m = m,
                                 .n = n,
                                 .k = k,
                                 .am = k,
                                 .ak = 1,
                                 .bk = n,
                                 .bn = 1,
                                 .limbs = blas::exact_limbs(moduli, k)};
    return products_.emplace(key, neuron::estimate(blas::exact_program(shape, machine_), machine_)).first->second;
  }

  const Arguments& a_;
  const tile::Machine& machine_;
  std::int64_t n_;
  std::map<std::vector<std::int64_t>, neuron::RunReport> products_;
};

void show(const Arguments& a) {
  const tile::Machine& machine = tile::machine(a.machine);
  require(a.cores == 1 || machine.cores_per_chip == 8,
          "mp2-model: {} cores; the plan for several is one for 8 and a {} chip has {}; give 1", a.cores, machine.name,
          machine.cores_per_chip);
  require(a.cores == 1 || a.cores == 8, "mp2-model: {} cores; give 1, or the 8 of a {} chip", a.cores, machine.name);
  require(a.cores == 1 || a.nocc >= 8, "mp2-model: the plan for 8 cores is one for at least 8 orbitals, not {}",
          a.nocc);
  JsonFile json(a.json);
  Model model(a, machine);
  struct Row {
    std::string stage, arithmetic;
    Cost cost;
  };
  std::vector<Row> rows;
  const auto share = [&](std::int64_t n) { return (n + a.cores - 1) / a.cores; };
  const Stage progress_of("mp2-model");
  rows.push_back({"transform", "float64 exact", model.transform(share(a.naux))});
  rows.push_back({"solve", "float64 exact", model.solve(share(a.nocc))});
  const std::string arithmetic = a.precision == "exact" ? "float64 exact" : "float32 " + a.precision;
  const std::int64_t block = (a.nocc + 3) / 4;
  Cost two, own;  // on eight cores: a pair of blocks of orbitals, and two blocks' own pairs
  if (a.cores > 1) {
    two = model.energies(2 * block, block), own = model.energies(block, 0, 2);
    rows.push_back({"energies", arithmetic, own.seconds > two.seconds ? own : two});
  } else {
    rows.push_back({"energies", arithmetic, model.energies(a.nocc, 0)});
  }
  constexpr const char* kLanes[] = {"tensor", "vector", "scalar", "gpsimd", "dma"};
  const auto busy = [](const Cost& c, const char* lane) {
    return c.busy.contains(lane) ? c.busy.at(lane) / c.seconds : 0;
  };
  double total = 0;
  nlohmann::ordered_json out{{"machine", machine.name}, {"cores", a.cores},         {"nocc", a.nocc},
                             {"naux", a.naux},          {"nvir", a.nvir},           {"functions", a.functions},
                             {"moduli", a.moduli},      {"precision", a.precision}, {"modelled_seconds", 0}};
  for (const Row& r : rows) {
    total += r.cost.seconds;
    nlohmann::ordered_json one{{"stage", r.stage},
                               {"arithmetic", r.arithmetic},
                               {"modelled_seconds", r.cost.seconds},
                               {"hbm_read_bytes", r.cost.read},
                               {"hbm_write_bytes", r.cost.written},
                               {"launches", r.cost.launches}};
    for (const char* lane : kLanes) one["busy"][lane] = busy(r.cost, lane);
    out["stages"].push_back(std::move(one));
  }
  out["modelled_seconds"] = total;
  json.write(out);
  if (json.replaces_text()) return;
  say("nocc {}, naux {}, nvir {} on {} core{} of {}; modelled, {} moduli in Exact products\n", a.nocc, a.naux, a.nvir,
      a.cores, a.cores > 1 ? "s (the slowest of each stage)" : "", machine.name, a.moduli);
  Table table({"stage", "arithmetic", "time", "tensor", "vector", "scalar", "gpsimd", "dma", "HBM read", "launches"});
  for (const Row& r : rows) {
    std::vector<std::string> cells{r.stage, r.arithmetic, duration(r.cost.seconds)};
    for (const char* lane : kLanes) cells.push_back(percent(busy(r.cost, lane)));
    cells.push_back(bytes_text(r.cost.read));
    cells.push_back(fmt::format("{}", r.cost.launches));
    table.add(std::move(cells));
  }
  table.print();
  say("total {}", duration(total));
  legend("tensor, vector, scalar, gpsimd, dma: busy share of the stage's modelled time on one core");
  if (a.cores == 1) return;
  const double panel = static_cast<double>(a.naux * a.nvir) * (a.precision == "exact" ? 8 : 4),
               copy = 2 * static_cast<double>(block) * panel;
  const tile::Fabric& fabric = tile::fabric(machine.name);
  const double stack = fabric.stack_bytes_per_s, host = tile::host_bytes_per_s(fabric);
  say("\nenergies: six cores take one pair of blocks of {} orbitals, {}; two take two blocks' own pairs, {}", block,
      duration(two.seconds), duration(own.seconds));
  say("the first read {} of HBM each in that time, {:.0f} GB/s; a stack gives its {} cores {:.0f} GB/s together",
      bytes_text(two.read), two.read / two.seconds * 1e-9, machine.cores_per_stack(), stack * 1e-9);
  say("panels: a core uses {} of B; a copy of its own, at the {:.0f} GB/s of its DMA engines, would take {}",
      bytes_text(copy), machine.dma_bytes_per_s() * 1e-9, duration(copy / machine.dma_bytes_per_s()));
  say("B from the host instead: {} at {:.0f} GB/s, {}", bytes_text(static_cast<double>(a.nocc) * panel), host * 1e-9,
      duration(static_cast<double>(a.nocc) * panel / host));
}

}  // namespace

void add_mp2_model(Command& program) {
  Command sub = program.add("mp2-model", "modelled time of the MP2 part for a number of orbitals, by stage and engine");
  auto a = std::make_shared<Arguments>();
  constexpr std::int64_t kExtent = std::int64_t{1} << 16;
  sub.number("--nocc", a->nocc, "occupied orbitals", 1, kExtent);
  sub.number("--naux", a->naux, "fitting functions", 1, kExtent);
  sub.number("--nvir", a->nvir, "virtual orbitals", 1, kExtent);
  sub.number("--functions", a->functions, "orbital functions; 0: nocc + nvir", 0, kExtent);
  sub.number("--moduli", a->moduli, "of the exact products", 1, 20);
  sub.text("--precision", a->precision, "of the energies: exact, tf32x3, native, bf16x6, tf32 or bf16",
           {"exact", "tf32x3", "native", "bf16x6", "tf32", "bf16"});
  sub.number("--cores", a->cores, "1, or all cores of a chip", 1, 1024);
  sub.machine(a->machine);
  sub.text("--json", a->json, kJsonHelp);
  sub.explain();
  sub.run([a] { show(*a); });
}

}  // namespace trn::tools
