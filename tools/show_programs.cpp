// The subcommands that show the device programs of an operation: profile, emit, dis. An operation of several programs
// is shown whole; --step takes one of them.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/print.hpp>
#include <trn/tile/reorder.hpp>
#include <trn/tile/serialize.hpp>

#include "commands.hpp"
#include "input_file.hpp"
#include "measured_profile.hpp"
#include "mp2_report.hpp"
#include "output.hpp"
#include "report/format.hpp"

namespace trn::tools {

void add_step(Options& options, std::int64_t& which) {
  options.number("--step", which, "which program of several, from 1; all of them unless given", 1, 1 << 20);
}

std::vector<Step> steps(const Operation& operation, const tile::Machine& machine, std::int64_t which) {
  std::vector<Step> all;
  std::string names;
  for (const auto& program : operation.programs(machine)) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Step& s) {
      return s.program == program || (s.program->hash() == program->hash() && *s.program == *program);
    });
    if (same != all.end()) {
      ++same->runs;
      continue;
    }
    if (names.find(program->name()) == std::string::npos) names += (names.empty() ? "" : ", ") + program->name();
    all.push_back({program, 1});
  }
  require(!all.empty(), "{}: runs no program on {} for these options", operation.name(), machine.name);
  if (which == 0) return all;
  require(which <= static_cast<std::int64_t>(all.size()),
          "{}: it runs {} program{} ({}); choose one with --step 1 to {}", operation.name(), all.size(),
          all.size() == 1 ? "" : "s", names, all.size());
  return {all[static_cast<std::size_t>(which - 1)]};
}

namespace {

struct Target {
  std::string machine = "trn2";
  std::int64_t step = 0;
  std::string html, trace, save, json;
  bool recorded = false;
};

// A subcommand with one sub-subcommand per operation.
Command for_operations(Command& program, const Operations& operations, const char* name, const char* summary,
                       const std::function<void(Options&, Target&)>& more,
                       const std::function<void(const Operation&, const Target&, const Command&)>& run) {
  Command parent = program.add(name, summary);
  parent.needs_one("operation");
  for (const auto& operation : operations) {
    Command sub = parent.add(operation->name(), operation->summary());
    auto target = std::make_shared<Target>();
    operation->add_options(sub);
    sub.machine(target->machine);
    add_step(sub, target->step);
    more(sub, *target);
    sub.run([op = operation.get(), target, run, sub] { run(*op, *target, sub); });
  }
  return parent;
}

// What programs take together.
struct Whole {
  double seconds = 0, launch_seconds = 0, reordered_seconds = 0, flops = 0, read = 0, written = 0;
  double peak_seconds = 0;  // the products at the Tensor Engine's peak
  bool reordered = true;    // every program is short enough
  std::vector<neuron::Lane> lanes;

  void add(const Step& step, const neuron::RunReport& report, const tile::Machine& machine) {
    constexpr std::int64_t kReordered = 20000;
    const auto runs = static_cast<double>(step.runs);
    seconds += runs * report.seconds;
    launch_seconds += runs * (report.launch_seconds + report.finish_seconds);
    reordered = reordered && step.program->dynamic_instructions() <= kReordered;
    if (reordered) {
      reordered_seconds += runs * neuron::estimate(tile::reorder(*step.program, machine), machine).seconds;
    }
    flops += runs * static_cast<double>(report.matmul_flops);
    if (report.tensor_peak_flops > 0) peak_seconds += runs * report.matmul_flops / report.tensor_peak_flops;
    read += runs * static_cast<double>(report.hbm_read_bytes);
    written += runs * static_cast<double>(report.hbm_write_bytes);
    for (const neuron::Lane& lane : report.lanes) {
      auto known = std::find_if(lanes.begin(), lanes.end(), [&](const auto& l) { return l.name == lane.name; });
      if (known == lanes.end()) {
        lanes.push_back(lane);
        known = lanes.end() - 1;
        known->busy_s = 0, known->instructions = 0;
      }
      known->busy_s += runs * lane.busy_s;
      known->instructions += step.runs * lane.instructions;
    }
  }
};

nlohmann::ordered_json json_of(const Operation& operation, const tile::Machine& machine, const std::vector<Step>& all,
                               const std::vector<double>& seconds, const Whole& whole) {
  nlohmann::ordered_json out{{"op", operation.name()},
                             {"machine", machine.name},
                             {"modelled_seconds", whole.seconds},
                             {"launch_seconds", whole.launch_seconds},
                             {"reordered_seconds", nullptr},
                             {"matmul_flops", whole.flops},
                             {"tensor_peak_share", whole.peak_seconds / whole.seconds},
                             {"hbm_read_bytes", whole.read},
                             {"hbm_write_bytes", whole.written},
                             {"steps", nlohmann::ordered_json::array()},
                             {"lanes", nlohmann::ordered_json::array()}};
  if (whole.reordered) out["reordered_seconds"] = whole.reordered_seconds;
  for (std::size_t i = 0; i < all.size(); ++i) {
    out["steps"].push_back(
        {{"program", all[i].program->name()}, {"runs", all[i].runs}, {"modelled_seconds", seconds[i]}});
  }
  for (const neuron::Lane& lane : whole.lanes) {
    out["lanes"].push_back({{"name", lane.name}, {"busy_seconds", lane.busy_s}, {"instructions", lane.instructions}});
  }
  return out;
}

// The programs of a call, where there are several, or one that runs several times.
std::vector<std::vector<std::string>> step_rows(const std::vector<Step>& all, const std::vector<double>& seconds) {
  std::vector<std::vector<std::string>> rows{{"step", "program", "runs", "each", "together"}};
  if (all.size() == 1 && all.front().runs == 1) return rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows.push_back({fmt::format("{}", i + 1), all[i].program->name(), fmt::format("{}", all[i].runs),
                    duration(seconds[i]), duration(all[i].runs * seconds[i])});
  }
  return rows;
}

void print_profile(const Operation& operation, const tile::Machine& machine, const std::vector<Step>& all,
                   const std::vector<double>& seconds, const Whole& whole) {
  say("{} on {}: {} modelled, {} of it launch and finish", operation.name(), machine.name, duration(whole.seconds),
      duration(whole.launch_seconds));
  if (whole.reordered) {
    fmt::print("{} in an order that a compiler may choose\n", duration(whole.reordered_seconds));
  }
  if (const auto rows = step_rows(all, seconds); rows.size() > 1) {
    Table table(rows.front());
    for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
    table.print();
  }
  Table lanes({"lane", "busy", "share", "instructions"});
  for (const neuron::Lane& lane : whole.lanes) {
    lanes.add(
        {lane.name, duration(lane.busy_s), percent(lane.busy_s / whole.seconds), fmt::format("{}", lane.instructions)});
  }
  lanes.print();
  say("{:.2f} TF/s, {} of the Tensor Engine's peak\nHBM read {}, written {}", whole.flops / whole.seconds * 1e-12,
      percent(whole.peak_seconds / whole.seconds), neuron::report::bytes_text(whole.read),
      neuron::report::bytes_text(whole.written));
  legend("modelled: the simulator's timing model, never measured on silicon; share: of the modelled time");
}

// " --m 64 --n 32 --listed" as "m 64, n 32, listed"; the type has a line of its own.
std::string shape_text(const std::string& options) {
  std::string text, word;
  std::istringstream words(options);
  bool type = false;
  while (words >> word) {
    const bool name = word.starts_with("--");
    if (name) type = word == "--dtype" || word == "--precision";
    if (type) continue;
    text += name ? (text.empty() ? "" : ", ") + word.substr(2) : " " + word;
  }
  return text.empty() ? "no options" : text;
}

// What the page says of the operation. `options`: all of them as the command line has them.
neuron::report::Page page_of(const Operation& operation, const Target& target, const tile::Machine& machine,
                             const std::vector<Step>& all, std::size_t shown, const std::string& options) {
  const auto value = [&](const std::string& name) {
    const std::size_t at = options.find(" " + name + " ");
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + name.size() + 2;
    return options.substr(begin, options.find(' ', begin) - begin);
  };
  const std::string dtype = value("--dtype"), precision = value("--precision");
  neuron::report::Page page;
  page.title = fmt::format("{} on {}, modelled", operation.name(), machine.name);
  page.facts = {{"command", command_line()},
                {"operation", fmt::format("{}: {}", operation.name(), operation.summary())},
                {"shape", shape_text(options)},
                {"dtype", (dtype.empty() ? "fp32" : dtype) + (precision.empty() ? "" : ", " + precision)},
                {"machine", fmt::format("{}, one {} core", machine.name, machine.core)},
                {"version", fmt::format("trnsci {}", TRN_VERSION)}};
  if (all.size() > 1) {
    page.facts.emplace_back(
        "program", fmt::format("step {} of {}, {}, which runs {} time{} in one call; {}", shown + 1, all.size(),
                               all[shown].program->name(), all[shown].runs, all[shown].runs == 1 ? "" : "s",
                               target.step > 0 ? "chosen with --step" : "it takes longest, --step chooses another"));
  }
  return page;
}

void profile(const Operation& operation, const Target& target, const Command& command) {
  constexpr std::int64_t kTraceIntervals = 200000;  // a trace holds every one; a page merges them
  require_different_files({{"--html", target.html}, {"--trace", target.trace}, {"--json", target.json}});
  for (const auto& [option, path] : {std::pair{"--html", target.html}, {"--trace", target.trace}}) {
    require(path != "-", "{}: it goes to a file; '-' is for --json alone", option);
    if (!path.empty()) const OutputFile claim(option, path);  // a bad path costs nothing
  }
  JsonFile json(target.json);
  const tile::Machine& machine = tile::machine(target.machine);
  const Stage stage(fmt::format("{} on {}", operation.name(), machine.name));
  const std::vector<Step> all = steps(operation, machine, target.step);
  Whole whole;
  std::vector<double> seconds;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const neuron::RunReport report = neuron::estimate(*all[i].program, machine);
    whole.add(all[i], report, machine);
    seconds.push_back(report.seconds);
    if (all[i].runs * seconds[i] > all[longest].runs * seconds[longest]) longest = i;
  }
  if (!json.replaces_text()) print_profile(operation, machine, all, seconds, whole);
  neuron::PageTable measured;
  if (target.recorded) {
    measured = measured_beside(*all[longest].program, neuron::estimate(*all[longest].program, machine));
    if (!json.replaces_text()) {
      say("{} recorded on neuron:", all[longest].program->name());
      Table table(measured.rows.front());
      for (std::size_t i = 1; i < measured.rows.size(); ++i) table.add(measured.rows[i]);
      table.print();
    }
  }
  if (!target.html.empty() || !target.trace.empty()) {
    const std::int64_t intervals = target.html.empty() ? kTraceIntervals : kPageIntervals;
    neuron::RunReport report = neuron::estimate(*all[longest].program, machine, {.keep_intervals = intervals});
    const auto cut = [&] {
      const auto kept = static_cast<std::int64_t>(report.intervals.size());
      return kept < report.instructions ? fmt::format("; the first {} of {} instructions", kept, report.instructions)
                                        : std::string();
    };
    const std::string which =
        all.size() == 1 ? "" : fmt::format(" (step {}, which takes longest; --step chooses another)", longest + 1);
    if (!target.html.empty()) {
      std::vector<std::string> left_out = operation.unused_options();
      left_out.insert(left_out.end(), {"--html", "--trace", "--json", "--explain", "--exec", "--step", "--recorded"});
      neuron::report::Page page = page_of(operation, target, machine, all, longest, command.line(left_out));
      if (auto rows = step_rows(all, seconds); rows.size() > 1) {
        page.sections.push_back(neuron::report::table_html(
            {fmt::format("The whole call: {} modelled", duration(whole.seconds)),
             fmt::format("{} of it launch and finish. All of its programs; the sections below show step {}.",
                         duration(whole.launch_seconds), longest + 1),
             std::move(rows)}));
      }
      if (!measured.rows.empty()) page.sections.push_back(neuron::report::table_html(measured));
      neuron::report::write_page(report, machine, target.html, page);
      if (!json.replaces_text()) say("report: {}{}{}", target.html, which, cut());
    }
    if (!target.trace.empty()) {
      if (static_cast<std::int64_t>(report.intervals.size()) > kTraceIntervals)
        report.intervals.resize(static_cast<std::size_t>(kTraceIntervals));
      neuron::write_trace(report, target.trace);
      if (!json.replaces_text()) {
        say("trace: {}{}{} (open it in Perfetto or chrome://tracing)", target.trace, which, cut());
      }
    }
  }
  json.write(json_of(operation, machine, all, seconds, whole));
}

// One text after the other, each with a heading where there are several.
void print_steps(const Operation& operation, const Target& target, std::string (*text)(const tile::Program&)) {
  const std::vector<Step> all = steps(operation, tile::machine(target.machine), target.step);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.size() > 1) {
      fmt::print("{}# program {} of {}: {}, {} run{} in one call; --step {} prints it alone\n", i == 0 ? "" : "\n",
                 i + 1, all.size(), all[i].program->name(), all[i].runs, all[i].runs == 1 ? "" : "s", i + 1);
    }
    fmt::print("{}", text(*all[i].program));
  }
}

}  // namespace

void add_profile(Command& program, const Operations& operations) {
  for_operations(
      program, operations, "profile", "modelled time of an operation, engine by engine",
      [](Options& options, Target& t) {
        options.flag("--recorded", t.recorded, "also run its longest program on neuron once, recorded");
        options.text("--html", t.html, "write the report page to this file");
        options.text("--trace", t.trace, "write a Chrome/Perfetto trace to this file");
        options.text("--json", t.json, kJsonHelp);
        options.explain();
      },
      profile);
}

void add_emit(Command& program, const Operations& operations) {
  for_operations(
      program, operations, "emit", "print the device kernel as NKI source", [](Options&, Target&) {},
      [](const Operation& op, const Target& t, const Command&) {
        print_steps(op, t, [](const tile::Program& p) { return neuron::emit_nki(p); });
      });
}

void add_disassemble(Command& program, const Operations& operations) {
  Command parent = for_operations(
      program, operations, "dis", "print the device kernel as a tile program",
      [](Options& options, Target& t) {
        options.text("-o,--output,--save", t.save,
                     "also save the program to this file; - prints it as saved instead of the text");
      },
      [](const Operation& op, const Target& t, const Command&) {
        if (!t.save.empty()) {
          if (t.save != "-") const OutputFile claim("--output", t.save);  // a bad path costs nothing
          const std::vector<Step> all = steps(op, tile::machine(t.machine), t.step);
          require(all.size() == 1, "{}: a file holds one program, and this runs {}; choose one with --step 1 to {}",
                  op.name(), all.size(), all.size());
          if (t.save == "-") return fmt::print("{}", tile::serialize(*all.front().program));
          tile::save(*all.front().program, t.save);
        }
        print_steps(op, t, [](const tile::Program& p) { return tile::print(p); });
      });
  auto path = std::make_shared<std::string>();
  Command file = parent.add("file", "print a program saved with --output");
  file.text("path", *path, "the program file").required();
  file.run([path] {
    require_readable("dis", *path);
    fmt::print("{}", tile::print(tile::load(*path)));
  });
}

}  // namespace trn::tools
