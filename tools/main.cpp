// The `trnsci` command: parses, runs one subcommand, and turns every error into one line. Exit status 2 for a mistake
// in the arguments, 1 for anything that went wrong while running. Output that could not be written (a full disk, a pipe
// whose reader is gone, a closed descriptor) is such an error.
#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include <trn/core/error.hpp>
#include <trn/core/instruction_set.hpp>
#include <trn/core/output_file.hpp>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "completion.hpp"
#include "harmless.hpp"
#include "output.hpp"
#include "user_words.hpp"

namespace {

// A closed pipe and a limit on the size of files become answers of write. A closed standard descriptor becomes one that
// refuses to be written, so that no file that is opened later takes its number and gets what is printed.
void prepare_descriptors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int descriptor : {0, 1, 2}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) return;
  }
}

// Ctrl-C leaves no part of a file behind.
void end_by_signal(int number) {
  trn::remove_partial_files();
  std::signal(number, SIG_DFL);
  std::raise(number);
}
void prepare_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(number, end_by_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

// As it is for programs, without bytes that a terminal would obey; on a terminal lines of at most 80 columns. Not
// fmt::print, which throws when standard error cannot be written.
int complain(const std::string& text, int status) {
  const std::string whole = "trnsci: " + trn::tools::harmless(text);
  if (isatty(STDERR_FILENO) == 0) {
    std::fputs((whole + "\n").c_str(), stderr);
    return status;
  }
  for (std::size_t at = 0; at <= whole.size();) {  // an expression has lines of its own
    const std::size_t end = std::min(whole.find('\n', at), whole.size());
    for (const std::string& line : trn::tools::wrapped(whole.substr(at, end - at), trn::tools::kColumns, 2))
      std::fputs((line + "\n").c_str(), stderr);
    at = end + 1;
  }
  return status;
}

// The words of the command that runs: "bench blas.gemm".
std::string path_of(const CLI::App& program) {
  std::string path;
  for (const CLI::App* at = &program; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    path += (path.empty() ? "" : " ") + at->get_name();
  }
  return path;
}

constexpr const char* kNoMemory = "not enough memory for these sizes; choose smaller ones";

std::string lost_output(const std::string& reason) { return "cannot write standard output: " + reason; }

// The status of a run that went well, unless its output was lost.
int flushed() {
  const bool already = !std::cout.good() || std::ferror(stdout) != 0;  // then errno is what the failed write left
  if (!already) errno = 0;
  if (std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return complain(lost_output(std::generic_category().message(errno == 0 ? EIO : errno)), 1);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace trn::tools;
  prepare_descriptors();
  prepare_signals();
  remember_command_line(argc, argv);
  constexpr int kMostThreads = 4096;  // for as many the OpenMP runtime has room on a thread's stack
  if (omp_get_max_threads() > kMostThreads) {
    return complain(
        fmt::format("OMP_NUM_THREADS asks for {} threads; give at most {}", omp_get_max_threads(), kMostThreads), 2);
  }
  try {
    trn::heed_instruction_set();
  } catch (const trn::InvalidArgument& e) {
    return complain(e.what(), 2);
  }
  CLI::App app{"trnsci: math libraries for AWS Trainium. Without a subcommand: a short demonstration.", "trnsci"};
  wrap_help(app);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", TRN_VERSION);
  Command program(app);
  const Operations all = operations();
  add_info(program);
  add_bench(program, all);
  add_profile(program, all);
  add_emit(program, all);
  add_disassemble(program, all);
  add_validate(program);
  add_neffc(program);
  add_silicon_check(program);
  add_silicon_diff(program);
  add_compare(program);
  add_coverage(program);
  add_fuzz(program);
  add_rand(program);
  add_sparse(program);
  add_einsum(program);
  add_mp2(program);
  add_mp2_model(program);
  add_scale(program);
  add_evidence(program);
  add_completion(program);
  try {
    if (argc >= 3 && argv[1] == kCompleteWords[0] &&
        argv[2] == kCompleteWords[1]) {  // options follow that are not ours
      for (const std::string& word : completions(app, {argv + 3, argv + argc})) fmt::print("{}\n", word);
      return flushed();
    }
    app.parse(argc, argv);  // a chosen subcommand runs here
    if (app.get_subcommands().empty()) demonstration();
    return flushed();
  } catch (const CLI::Success& e) {
    const int status = app.exit(e);
    return status == 0 ? flushed() : status;
  } catch (const CLI::ParseError& e) {
    return complain(explain(app, e), 2);
  } catch (const trn::InvalidArgument& e) {
    return complain(in_user_words(e.what(), path_of(app)), 2);
  } catch (const trn::NotImplemented& e) {
    return complain(in_user_words(e.what(), path_of(app)), 2);
  } catch (const std::system_error& e) {  // fmt::print
    return complain(std::ferror(stdout) != 0 ? lost_output(e.code().message()) : e.what(), 1);
  } catch (const std::bad_alloc&) {
    return complain(kNoMemory, 1);
  } catch (const std::length_error&) {  // more elements than a vector can have
    return complain(kNoMemory, 1);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
}
