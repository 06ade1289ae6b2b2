// `trnsci silicon-check` and `trnsci silicon-diff`: one report file about an executor, and what two of them say
// differently.
#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>

#include "commands.hpp"
#include "input_file.hpp"
#include "near_names.hpp"
#include "output.hpp"
#include "silicon_report.hpp"

namespace trn::tools {

namespace {

using silicon::Json;

struct Check {
  std::string executor, output, html;
  double minutes = 30;
  std::vector<std::string> sections;
};

// What a section has to say, in a few words.
std::string summary(const Json& s) {
  if (s.contains("error")) return s["error"].get<std::string>();
  if (s.contains("reason")) return s["reason"].get<std::string>();
  const std::int64_t left = s.value("left_out", std::int64_t{0});
  const std::string why = s.value("left_why", std::string("the time was up"));
  const std::string cut = left > 0 ? fmt::format("; {} left out, {}", left, why) : "";
  if (s.contains("confirmed")) return fmt::format("{} choices confirmed{}", s["confirmed"].get<std::int64_t>(), cut);
  if (s.contains("equal")) {
    return fmt::format("{} of {} programs equal{}", s["equal"].get<std::int64_t>(), s["programs"].size(), cut);
  }
  if (s.contains("kernels")) {
    const auto& kernels = s["kernels"];
    const auto built =
        std::count_if(kernels.begin(), kernels.end(), [](const Json& k) { return k["status"] == "built"; });
    return fmt::format("{} of {} kernels built{}", built, static_cast<std::int64_t>(kernels.size()) + left, cut);
  }
  if (s.contains("rows")) return fmt::format("{} kernels{}", s["rows"].size(), cut);
  if (s.contains("items")) {
    const auto& items = s["items"];
    const auto count = [&](const char* status) {
      return std::count_if(items.begin(), items.end(), [&](const Json& i) { return i["status"] == status; });
    };
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const auto right = count("ok"), judged = right + count("other"), answered = count("answered");
    if (judged > 0) add(fmt::format("{} of {} as expected", right, judged));
    if (answered > 0) add(fmt::format("{} answered", answered));
    if (const auto skipped = count("skipped"); skipped > 0) add(fmt::format("{} skipped", skipped));
    return text + cut;
  }
  return cut.empty() ? "" : cut.substr(2);
}

void print_findings(const Json& s) {
  for (const char* list : {"choices", "programs", "items", "kernels"}) {
    if (!s.contains(list)) continue;
    for (const Json& row : s[list]) {
      const std::string status = row["status"];
      if (status == "other" && row.contains("number")) {
        say("  choice {}, {}: {}; found {}, expected {}", row["number"].get<int>(), row["title"].get<std::string>(),
            row["rule"].get<std::string>(), row["found"].get<std::string>(), row["expected"].get<std::string>());
      } else if (status == "undecided") {
        say("  choice {}, {}: none of the known rules; found {}, expected {}", row["number"].get<int>(),
            row["title"].get<std::string>(), row["found"].get<std::string>(), row["expected"].get<std::string>());
      } else if (status == "failed") {
        say("  {}", row.dump());
      } else if (status == "differs") {
        say("  {}: differs, by up to {} ulp", row["program"].get<std::string>(),
            row["largest_ulps"].get<std::int64_t>());
      } else if (status == "other") {
        say("  {}: {}; expected {}", row["item"].get<std::string>(), row["answer"].get<std::string>(),
            row["expected"].get<std::string>());
      }
    }
  }
}

// Whether two paths name one file, also by links.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error);
}

// Ctrl-C, TERM and the end of the terminal end the check after the question under way, or the kernel being compiled,
// and the report holds what was measured; the second one ends the process, and the file holds the sections before.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    silicon::stop_early();
    constexpr std::string_view kSaid = "silicon-check: stopping; a second signal ends it at once\n";
    const int before = errno;
    (void)!write(STDERR_FILENO, kSaid.data(), kSaid.size());
    errno = before;
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

void check(Check wanted) {
  const bool to_output = wanted.output == "-";
  require(wanted.html != "-", "--html: the page goes to a file; '-' is for --output alone");
  require(to_output || wanted.html.empty() || !same_file(wanted.output, wanted.html),
          "--output and --html name the same file '{}'; give two", wanted.html);
  if (wanted.executor.empty()) {
    const auto known = Executor::known();
    wanted.executor = std::find(known.begin(), known.end(), "neuron") != known.end() ? "neuron" : "sim:trn2";
    // On standard error: -o - leaves standard output to the report.
    fmt::print(stderr, "silicon-check: without --exec: {}\n",
               wanted.executor == "neuron" ? "neuron" : wanted.executor + ", a simulator: no Neuron device is here");
  }
  const Executor executor = Executor::open(wanted.executor);  // a wrong name costs nothing
  require(executor.family() == Family::Device,
          "silicon-check: '{}' is not a device; choose sim:trn1, sim:trn2, "
          "sim:trn3 or neuron",
          wanted.executor);
  std::vector<silicon::NamedSection> sections = silicon::all_sections();
  for (const std::string& name : wanted.sections) {
    const bool there = std::any_of(sections.begin(), sections.end(), [&](const auto& s) { return s.name == name; });
    std::string list;
    for (const auto& s : sections) list += (list.empty() ? "" : ", ") + std::string(s.name);
    require(there, "--sections: there is no section '{}'; choose among {}", name, list);
  }
  if (!wanted.sections.empty()) {
    std::erase_if(sections, [&](const auto& s) {
      return std::find(wanted.sections.begin(), wanted.sections.end(), s.name) == wanted.sections.end();
    });
  }
  // A bad path costs nothing. The claims are given up again: a process that is killed leaves no file.
  if (!to_output) const OutputFile claim("--output", wanted.output);
  if (!wanted.html.empty()) const OutputFile claim("--html", wanted.html);
  stop_on_signals();
  const auto text_of = [](Json report) {
    report["version"] = TRN_VERSION;
    return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  };
  const auto keep = [&](const Json& report) {
    if (to_output) return;
    OutputFile file("--output", wanted.output);
    file.write(text_of(report));
    file.commit();
  };
  Json report = silicon::run_sections(wanted.executor, wanted.minutes, sections, keep);
  report["version"] = TRN_VERSION;
  if (to_output) {
    fmt::print("{}", text_of(report));
  } else {
    keep(report);
  }
  if (!wanted.html.empty()) silicon::write_page(report, wanted.html);
  const auto complete = [] {
    if (silicon::stopped_early()) fail<Error>("silicon-check: stopped by a signal; the report holds what was measured");
  };
  if (to_output) return complete();
  Table table({"section", "status", "seconds", ""});
  for (const Json& s : report["sections"]) {
    table.add({s["name"], s["status"], fmt::format("{:.2f}", s["seconds"].get<double>()), summary(s)});
  }
  say("{} ({}){}", wanted.executor, report["machine"].get<std::string>(),
      wanted.executor.starts_with("sim:") ? ", a simulator: nothing of this was run on hardware" : "");
  table.print();
  for (const Json& s : report["sections"]) print_findings(s);
  say("report: {}", wanted.output);
  complete();
}

}  // namespace

void add_silicon_check(Command& program) {
  Command sub = program.add("silicon-check", "what an executor does, section by section, as one report file");
  auto wanted = std::make_shared<Check>();
  sub.text("--exec", wanted->executor, "neuron, or sim:trn1, sim:trn2, sim:trn3 (default: neuron where there is one)");
  sub.real("--minutes", wanted->minutes, "what has not begun by then is left out", 0, 1e5);
  sub.texts("--sections", wanted->sections,
            "some of the sections: machine, toolchain, exactness, bits, time, contract, "
            "faults, cores, operations, runtime, end");
  sub.text("-o,--output", wanted->output, "the report file; - for standard output, in the place of the text")
      .required();
  sub.text("--html", wanted->html, "write it as a web page, too");
  sub.run([wanted] { check(*wanted); });
}

void add_silicon_diff(Command& program) {
  Command sub = program.add("silicon-diff", "what two reports of silicon-check say differently");
  auto a = std::make_shared<std::string>(), b = std::make_shared<std::string>();
  sub.text("first", *a, "a report").required();
  sub.text("second", *b, "another one").required();
  sub.run([a, b] {
    for (const auto& path : {a, b}) require_readable("the report", *path);
    const Json first = silicon::read_report(*a), second = silicon::read_report(*b);
    const silicon::Comparison found = silicon::compare(first, second);
    for (const std::string& line : found.differences) say("{}", printable(line, line.size()));
    for (const std::string& line : found.not_compared) say("not compared: {}", printable(line, line.size()));
    if (const std::size_t n = found.differences.size(); n > 0)
      fail<Error>("silicon-diff: {} difference{}", n, n == 1 ? "" : "s");
    say("no differences");
  });
}

}  // namespace trn::tools
