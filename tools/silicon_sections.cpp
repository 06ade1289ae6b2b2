// Sections of silicon-check that ask about the device as a whole: machine, toolchain, choices, contract, faults, cores.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <trn/core/array.hpp>
#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/nki_kernel.hpp>
#include <trn/neuron/silicon.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

#include "neff/files.hpp"
#include "neff/neff.hpp"
#include "silicon_choice.hpp"
#include "silicon_items.hpp"
#include "silicon_kernels.hpp"
#include "silicon_raw.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

namespace {

const tile::Machine& machine_of(const Task& task) { return tile::device_of(open_checked(task.executor)).machine(); }

}  // namespace

void check_machine(const Task& task, Json& out) {
  const tile::Machine& m = machine_of(task);
  out["simulated"] = simulated(task.executor);
  out["core"] = std::string(m.core);
  out["cores_per_chip"] = m.cores_per_chip;
  out["hbm_bytes_per_stack"] = m.hbm_bytes_per_stack();  // of our table; memory_bytes is the runtime's word
  out["sbuf_bytes_per_partition"] = m.sbuf_bytes_per_partition;
  out["lnc"] = 1;  // a simulator's core
  out["executors"] = Executor::known();
  if (!simulated(task.executor)) {
    const neuron::NeuronFacts facts = neuron::facts_of(open_checked(task.executor));
    out["lnc"] = facts.lnc;
    out["family"] = facts.family;
    out["architecture"] = facts.architecture;
    out["revision"] = facts.revision;
    out["visible_cores"] = facts.visible_cores;
    if (facts.memory_bytes > 0) out["memory_bytes"] = facts.memory_bytes;
    out["functions_found"] = facts.found;
    out["functions_missing"] = facts.missing;
    const neuron::NeuronVersions versions = neuron::neuron_versions();
    out["runtime_version"] = versions.runtime;
    out["driver_version"] = versions.driver;
  }
}

void check_choices(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  out["choices"] = Json::array();
  std::int64_t confirmed = 0, left = 0;
  for (Question& q : questions(machine_of(task))) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    Finding f;
    try {
      f = ask(executor, q);
    } catch (const DeviceError& e) {
      if (!stopped_compiling(e)) throw;
      ++left;
      continue;
    }
    confirmed += f.status == "confirmed";
    if (f.status != "confirmed") out["status"] = "findings";
    out["choices"].push_back({{"number", f.number},
                              {"title", f.title},
                              {"status", f.status},
                              {"rule", f.rule},
                              {"expected", f.expected},
                              {"found", f.found},
                              {"differing", f.differing},
                              {"elements", f.elements}});
  }
  for (const Undecidable& u : undecidable()) {
    if (u.number > 31) continue;  // of time
    out["choices"].push_back({{"number", u.number}, {"title", u.title}, {"status", "no program"}, {"rule", u.reason}});
  }
  out["confirmed"] = confirmed;
  out["left_out"] = left;
}

void check_toolchain(const Task& task, Json& out) {
  const tile::Machine& machine = machine_of(task);
  if (simulated(task.executor) && environment("TRN_NKI_PYTHON", "").empty()) {
    out["status"] = "skipped";
    out["reason"] = "TRN_NKI_PYTHON is not set; set it to the interpreter of an environment with nki and neuronx-cc";
    return;
  }
  const neuron::neff::TemporaryFolder folder("check");
  out["kernels"] = Json::array();
  std::int64_t left = 0;
  for (const auto& [kernel, program] : toolchain_kernels(machine)) {
    if (task.deadline.over()) {
      ++left;
      continue;
    }
    Json row{{"kernel", kernel}, {"status", "built"}, {"instructions", program.dynamic_instructions()}};
    try {
      neuron::neff::Options options;
      options.cache = folder.path();
      const neuron::neff::Artifact built = neuron::neff::obtain(program, options);
      const neuron::neff::Header header = neuron::neff::read_header(built.bytes());
      row["seconds"] = built.seconds();
      row["neff_bytes"] = built.bytes().size();
      row["neff_version"] = fmt::format("{}.{}", header.major, header.minor);
      row["lnc"] = header.lnc;
      row["api"] = built.manifest().versions.at("api");
      std::string tensors;
      for (const auto& a : built.manifest().arguments) {
        tensors += fmt::format("{}{} {} {}{}", tensors.empty() ? "" : "; ", a.output ? "out" : "in", a.name, a.bytes,
                               a.alias.empty() ? "" : " continues " + a.alias);
      }
      row["tensors"] = tensors;
      out["versions"] = built.manifest().versions;
    } catch (const Error& e) {
      if (stopped_compiling(e)) {
        ++left;
        continue;
      }
      row["status"] = "failed";
      row["error"] = e.what();
      out["status"] = "findings";
    }
    out["kernels"].push_back(row);
  }
  out["left_out"] = left;
}

void check_contract(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  Items items(out);
  constexpr std::int64_t kColumns = 16, kElements = 128 * kColumns, kBytes = kElements * 4;
  const std::vector<float> x = numbers(kElements);
  const auto right = [&](const Array<float>& y, std::int64_t from = 0) {
    const std::vector<float> got = y.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (got[static_cast<std::size_t>(from) + i] != 2 * x[i] + 1) return fmt::format("element {} is wrong", i);
    }
    return std::string("right");
  };
  items.ask("an array of no elements", "right", [&] {
    const Array<float> none(executor, {0});
    return none.to_host().empty() ? "right" : "wrong";
  });
  items.ask("a run between two copies is ordered", "right", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    return right(y);
  });
  items.ask("three runs that depend on one another", "right", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements}), z(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    run_line(executor, kColumns, y.view().data(), 0, z.view().data(), 0);
    run_line(executor, kColumns, z.view().data(), 0, y.view().data(), 0);
    const std::vector<float> got = y.to_host();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (got[i] != 8 * x[i] + 7) return fmt::format("element {} is wrong", i);
    }
    return std::string("right");
  });
  items.ask("an array that is freed while its run may be under way", "right", [&] {
    const Array<float> y(executor, {kElements});
    {
      const auto in = Array<float>::from_host(executor, {kElements}, x);
      run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    }
    return right(y);
  });
  for (const auto& [item, bytes] : {std::pair{"a tensor that starts 4 bytes into its array", 4},
                                    {"64 bytes", 64},
                                    {"512 bytes", 512},
                                    {"4096 bytes", 4096}}) {
    items.ask(item, "right", [&, from = bytes] {
      std::vector<float> padded(static_cast<std::size_t>(kElements + 2048));
      std::copy(x.begin(), x.end(), padded.begin() + from / 4);
      const auto in = Array<float>::from_host(executor, {kElements + 2048}, padded);
      const auto y = Array<float>::from_host(executor, {kElements + 2048}, std::vector<float>(padded.size(), 7));
      run_line(executor, kColumns, in.view().data(), from, y.view().data(), from);
      if (y.to_host()[0] != 7 || y.to_host().back() != 7) return std::string("its neighbours were written");
      return right(y, from / 4);
    });
  }
  items.ask("one array bound to an input and an output without alias", "", [&] {
    const auto y = Array<float>::from_host(executor, {kElements}, x);
    run_line(executor, kColumns, y.view().data(), 0, y.view().data(), 0);
    return right(y);
  });
  items.ask("a tensor larger than its array", "error out-of-bounds", [&] {
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements / 2});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    return std::string("taken");
  });
  items.ask("memory of the host bound to a tensor", "error out-of-bounds", [&] {
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, x.data(), 0, y.view().data(), 0);
    return std::string("taken");
  });
  if (simulated(task.executor)) {
    items.leave("an array of more than 4 GiB", "a simulator takes it from this machine's memory");
  } else {
    items.ask("an array of more than 4 GiB", "right", [&] {
      constexpr std::int64_t kLarge = (std::int64_t{1} << 32) + kBytes;
      const Buffer large(executor, kLarge);
      copy_bytes(Executor::host(), x.data(), executor, static_cast<std::byte*>(large.data()) + (kLarge - kBytes),
                 kBytes);
      const Array<float> y(executor, {kElements});
      run_line(executor, kColumns, large.data(), kLarge - kBytes, y.view().data(), 0);
      return right(y);
    });
  }
}

void check_faults(const Task& task, Json& out) {
  const Executor executor = open_checked(task.executor);
  const tile::Machine& machine = machine_of(task);
  Items items(out);
  constexpr std::int64_t kColumns = 16, kElements = 128 * kColumns;
  items.ask("more memory than there is", "error over-capacity", [&] {
    const Buffer too_much(executor, machine.hbm_bytes_per_stack() + 1);
    return std::string("given");
  });
  items.ask("a small array after that", "given", [&] {
    const Buffer some(executor, 4096);
    return std::string("given");
  });
  items.ask("NaN is a result", "NaN", [&] {
    std::vector<float> x = numbers(kElements);
    x[5] = std::numeric_limits<float>::quiet_NaN();
    const auto in = Array<float>::from_host(executor, {kElements}, x);
    const Array<float> y(executor, {kElements});
    run_line(executor, kColumns, in.view().data(), 0, y.view().data(), 0);
    const std::vector<float> got = y.to_host();
    return std::isnan(got[5]) && got[6] == 2 * x[6] + 1 ? "NaN" : fmt::format("{}", got[5]);
  });
  for (const char* item : {"a NEFF for other logical cores", "a NEFF that is cut off", "a NEFF with a flipped bit"}) {
    if (simulated(task.executor)) {
      items.leave(item, "a simulator loads none");
      continue;
    }
    // Through the runtime: the executor looks at the header first.
    items.ask(item, std::string_view(item).ends_with("bit") ? "" : "refused", [&] {
      const Raw raw(executor);
      const neuron::nrt::Compiled compiled = raw.compile(line_program(machine, kColumns));
      std::vector<std::byte> bytes(compiled.neff.begin(), compiled.neff.end());
      const std::string what = item;
      if (what.ends_with("cores")) {
        constexpr std::size_t kLnc = 552;  // its place in the header
        bytes[kLnc] = bytes[kLnc] == std::byte{1} ? std::byte{2} : std::byte{1};
      } else if (what.ends_with("off")) {
        bytes.resize(neuron::neff::kHeaderBytes + (bytes.size() - neuron::neff::kHeaderBytes) / 2);
      } else {
        bytes[bytes.size() / 2] ^= std::byte{16};
      }
      const std::string answer = raw.load(bytes);
      return answer == "loaded" || what.ends_with("bit") ? answer : "refused";
    });
  }
}

}  // namespace trn::tools::silicon
