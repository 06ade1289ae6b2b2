// The report of `trnsci silicon-check`: sections that run one after the other, each with its status, seconds and raw
// numbers. An exception ends a section, not the report. Nothing of the machine's name, addresses or environment is in
// it, so that it can be sent on.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <trn/core/executor.hpp>

namespace trn::tools::silicon {

using Json = nlohmann::ordered_json;

// When the time is up, or the process was asked to end, what has not begun is left out and counted.
class Deadline {
 public:
  explicit Deadline(double seconds);
  [[nodiscard]] bool over() const;

 private:
  double end_;
};

struct Task {
  std::string executor;  // its name
  Deadline deadline;
};

// From a signal handler: every deadline is over.
void stop_early() noexcept;
[[nodiscard]] bool stopped_early() noexcept;
// "the check was stopped" or "the time was up".
[[nodiscard]] const char* why_left_out() noexcept;
// Whether this is what was thrown because the check was to end while the compiler made a kernel: the question is left
// out, which is not a finding.
[[nodiscard]] bool stopped_compiling(const std::exception& error);

// Writes its numbers into the object. Its status is "ok" unless the section says otherwise ("findings", "skipped"). A
// section without findings that left something out ("left_out" above 0) becomes "cut"; "left_why" says why.
using Section = std::function<void(const Task& task, Json& out)>;
struct NamedSection {
  const char* name;
  const char* what;
  Section run;
  double share = 1;  // of the time that is left: what has many programs to compile leaves some to those behind it
};

// Sections that need the device and its compiler only. Exactness asks the questions of silicon_choice.hpp.
[[nodiscard]] std::vector<NamedSection> device_sections();
// With the libraries' programs: exactness asks probe_exactness too, and bits and operations run them.
[[nodiscard]] std::vector<NamedSection> all_sections();
void check_machine(const Task& task, Json& out);
void check_toolchain(const Task& task, Json& out);
void check_choices(const Task& task, Json& out);
void check_exactness(const Task& task, Json& out);
void check_bits(const Task& task, Json& out);
void check_operations(const Task& task, Json& out);
void check_time(const Task& task, Json& out);
void check_contract(const Task& task, Json& out);
void check_faults(const Task& task, Json& out);
void check_cores(const Task& task, Json& out);
void check_runtime(const Task& task, Json& out);
void check_end(const Task& task, Json& out);  // the last: it closes the runtime

// The whole report. `open` gives the executor of a task's name: Executor::open, or what a test puts in its place.
using Open = std::function<Executor(const std::string& name)>;
// `keep` gets the report so far after every section: the next one may be long, or end the process.
[[nodiscard]] Json run_sections(const std::string& executor, double minutes, const std::vector<NamedSection>& sections,
                                const std::function<void(const Json& report)>& keep = {});
// The same text, and the same report in all its texts, without names of folders and machines: "/home/me/x.py" is
// ".../x.py", "ip-10-0-0-1.ec2.internal" is "HOST". run_sections has done so.
[[nodiscard]] std::string without_places(const std::string& text);
[[nodiscard]] Json report_without_places(const Json& report);
// The executor under test.
[[nodiscard]] Executor open_checked(const std::string& name);
void set_open(Open open);

// Reads a report file, whose sections have names, statuses and lists of rows; throws InvalidArgument that says what is
// wrong.
[[nodiscard]] Json read_report(const std::string& path);
// The same of a text; `path` is for the messages.
[[nodiscard]] Json parse_report(const std::string& text, const std::string& path);

// The report as a web page.
void write_page(const Json& report, const std::string& path);

// What two reports say differently, a line each; and what only one of them asked, or what differs by nature between
// hardware and a simulator (versions, who measured), which says nothing.
struct Comparison {
  std::vector<std::string> differences, not_compared;
};
[[nodiscard]] Comparison compare(const Json& a, const Json& b);
// Lines of `trnsci validate --from`: constants of the timing model that the report's measurements would move.
[[nodiscard]] std::vector<std::string> moved_constants(const Json& report);

}  // namespace trn::tools::silicon
