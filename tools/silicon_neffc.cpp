// `trnsci neffc`: compiles device programs on any x86 host with AWS's compiler, into a folder that becomes
// TRN_NEFF_BUNDLE on the instance. No device is needed here, no Python there.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

#include "commands.hpp"
#include "harmless.hpp"
#include "neff/neff.hpp"
#include "operation_line.hpp"
#include "output.hpp"

namespace trn::tools {

namespace {

struct Wanted {
  std::string machine = "trn2", list, output;
  int lnc = 1;
  double limit = 900;
  bool retry = false;
};

// What a compiler says has lines without end, and whatever bytes it likes.
std::string first_line(const std::string& text) { return harmless(text.substr(0, text.find('\n'))); }

void neffc(const Wanted& wanted) {
  const tile::Machine& machine = tile::machine(wanted.machine);
  const std::vector<Line> lines = read_lines(wanted.list);
  std::vector<tile::Program> programs;  // all of them first: a wrong line costs nothing
  for (const Line& line : lines) {
    const std::string where = line.number == 0 ? line.text : fmt::format("{}:{}", wanted.list, line.number);
    try {
      for (tile::Program& program : programs_of_line(line.text, machine)) programs.push_back(std::move(program));
    } catch (const Error& e) {
      fail<InvalidArgument>("--list: {}: {}", where, e.what());
    }
    // The programs of one line are all for one machine.
    require(programs.back().machine() == machine.name,
            "--list: {}: the program is for {}, not for {}; name its machine", where, programs.back().machine(),
            machine.name);
  }
  std::error_code error;
  std::filesystem::create_directories(wanted.output, error);
  require(!error && std::filesystem::is_directory(wanted.output, error),
          "--output: '{}' cannot be made a folder: {}; give a place that can be written", wanted.output,
          error.message());
  neuron::neff::Options options;
  options.cache = wanted.output;
  options.lnc = wanted.lnc;
  options.time_limit = wanted.limit;
  options.retry_failed = wanted.retry;
  options.limit = std::int64_t{1} << 62;  // a bundle is never cut short
  Table table({"program", "key", "", "seconds", "NEFF"});
  std::vector<std::string> failures;
  std::size_t built = 0;
  for (const tile::Program& program : programs) {
    try {
      const neuron::neff::Artifact a = neuron::neff::obtain(program, options);
      built += a.built();
      table.add({program.name(), a.key().substr(0, 12), a.built() ? "built" : "there",
                 a.built() ? fmt::format("{:.2f}", a.seconds()) : "-", bytes(static_cast<double>(a.bytes().size()))});
    } catch (const DeviceError& e) {
      if (e.check() == "neff-toolchain" || e.check() == "neff-cache") throw;  // so would be all others
      failures.push_back(first_line(e.what()));
    } catch (const NotImplemented& e) {
      failures.push_back(first_line(e.what()));
    }
  }
  table.print();
  say("{} programs: {} built, {} there before, {} failed; on the instance: TRN_NEFF_BUNDLE={}", programs.size(), built,
      programs.size() - built - failures.size(), failures.size(), wanted.output);
  for (const std::string& f : failures) say_text(f);
  if (!failures.empty()) {
    say("the compiler's words: log.txt beside each failed.json in {}",
        harmless((std::filesystem::path(wanted.output) / machine.name).string()));
    fail<Error>("neffc: {} of {} programs failed; {}", failures.size(), programs.size(), failures.front());
  }
}

}  // namespace

void add_neffc(Command& program) {
  Command sub = program.add("neffc", "compile device programs into a bundle, with AWS's compiler");
  auto wanted = std::make_shared<Wanted>();
  sub.machine(wanted->machine);
  sub.text("--list", wanted->list, "a file with one operation per line, as emit takes it; or a folder of programs")
      .required();
  sub.text("-o,--output", wanted->output, "the folder of the bundle; what is there stays").required();
  sub.number("--lnc", wanted->lnc, "physical cores of a logical one", 1, 2);
  sub.real("--limit", wanted->limit, "seconds for one program", 0.01, 1e6);
  sub.flag("--retry", wanted->retry, "build again what was refused before");
  sub.run([wanted] { neffc(*wanted); });
}

}  // namespace trn::tools
