// Starting, limiting and ending the worker; its request and its result.
#include "neff/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

#include "neff/files.hpp"

namespace trn::neuron::neff {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

// What an interpreter needs to find itself and its packages. Nothing else of the caller's environment may change what
// is built: the key does not know it.
constexpr const char* kKept[] = {"PATH", "HOME", "LANG",       "LC_ALL",      "LD_LIBRARY_PATH",
                                 "USER", "TZ",   "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"};

std::vector<std::string> reduced_environment(const fs::path& folder) {
  std::vector<std::string> result{"TMPDIR=" + folder.string(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"};
  for (const char* name : kKept) {
    if (const std::string value = environment(name, ""); !value.empty())
      result.push_back(fmt::format("{}={}", name, value));
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& t : texts) result.push_back(t.data());
  result.push_back(nullptr);
  return result;
}

std::atomic<Stop> stop_asked{nullptr};

bool stopped() {
  const Stop asked = stop_asked.load();
  return asked != nullptr && asked();
}

// Waits for the process at most until `until`, or until workers are to stop. False: it still runs.
bool wait_until(pid_t process, Clock::time_point until, int& status) {
#ifdef SYS_pidfd_open
  const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#else
  const Descriptor handle;
#endif
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return true;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0 || stopped()) return false;
    if (handle.open()) {
      pollfd ready{handle.number(), POLLIN, 0};
      const std::int64_t most = stop_asked.load() == nullptr ? 60000 : 100;  // milliseconds
      (void)poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left.count() + 1, most)));
    } else {
      std::this_thread::sleep_for(std::min(left, pause));
      pause = std::min(2 * pause, std::chrono::milliseconds(50));
    }
  }
}

struct SpawnActions {
  SpawnActions() { posix_spawn_file_actions_init(&actions); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t actions;
};

struct SpawnAttributes {
  SpawnAttributes() { posix_spawnattr_init(&attributes); }
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  posix_spawnattr_t attributes;
};

}  // namespace

std::string Ending::text() const {
  switch (kind) {
    case Kind::Exit:
      return fmt::format("it ended with status {}", number);
    case Kind::Signal:
      return fmt::format("it was ended by signal {} ({})", number, strsignal(number));
    case Kind::Timeout:
      return "it took too long and was ended";
    case Kind::Stopped:
      return "it was stopped";
    case Kind::NotStarted:
      return "it cannot be started: " + std::generic_category().message(number);
  }
  return "";
}

void stop_workers_when(Stop stop) noexcept { stop_asked.store(stop); }

Ending run_worker(const std::vector<std::string>& arguments, const fs::path& folder, const fs::path& log,
                  double time_limit) {
  if (stopped()) return {Ending::Kind::Stopped, 0};
  // The worker's standard input is a pipe whose other end is ours: it ends when we do, and then the worker ends itself.
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {Ending::Kind::NotStarted, errno};
  const Descriptor input(ends[0]), alive(ends[1]);
  SpawnActions spawn;
  posix_spawn_file_actions_adddup2(&spawn.actions, input.number(), 0);
  posix_spawn_file_actions_addopen(&spawn.actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  posix_spawn_file_actions_adddup2(&spawn.actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&spawn.actions, folder.c_str());
  SpawnAttributes how;
  posix_spawnattr_setpgroup(&how.attributes, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&how.attributes, &none);
  posix_spawnattr_setsigdefault(&how.attributes, &all);
  posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> texts = arguments, variables = reduced_environment(folder);
  pid_t process = 0;
  const int error = posix_spawnp(&process, texts.front().c_str(), &spawn.actions, &how.attributes,
                                 pointers(texts).data(), pointers(variables).data());
  if (error != 0) return {Ending::Kind::NotStarted, error};
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(std::min(time_limit, 1e7)));
  int status = 0;
  const bool ended = wait_until(process, until, status);
  kill(-process, SIGKILL);  // whatever it started, too
  if (!ended) {
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    return {Clock::now() < until ? Ending::Kind::Stopped : Ending::Kind::Timeout, 0};
  }
  if (WIFSIGNALED(status)) return {Ending::Kind::Signal, WTERMSIG(status)};
  return {Ending::Kind::Exit, WEXITSTATUS(status)};
}

std::string write_request(const tile::Program& program, const NkiKernel& kernel, int lnc) {
  using nlohmann::ordered_json;
  const auto list = [&](const std::vector<NkiArgument>& arguments) {
    ordered_json result = ordered_json::array();
    for (const NkiArgument& a : arguments) {
      result.push_back({{"name", a.name},
                        {"dtype", std::string(name(a.dtype))},
                        {"shape", a.shape},
                        {"bytes", a.bytes},
                        {"parameter", a.parameter},
                        {"tensor", program.tensors()[static_cast<std::size_t>(a.tensor)].name}});
    }
    return result;
  };
  const ordered_json out{{"format", 1},
                         {"kernel", "kernel.py"},
                         {"program", "program.json"},
                         {"output", "kernel.neff"},
                         {"entry", kernel.entry},
                         {"machine", program.machine()},
                         {"lnc", lnc},
                         {"parameters", list(kernel.parameters)},
                         {"results", list(kernel.results)}};
  return out.dump(1) + "\n";
}

namespace {

constexpr std::size_t kLargestResult = std::size_t{1} << 20;
// Asking for versions imports nothing heavy.
constexpr double kVersionsLimit = 120;

[[noreturn]] void bad_result(const std::string& what) {
  throw DeviceError("the toolchain's result: " + what, "neff-build");
}

std::map<std::string, std::string> texts_of(const nlohmann::json& json, const char* what) {
  if (!json.is_object()) bad_result(fmt::format("'{}' is not an object", what));
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) bad_result(fmt::format("'{}' of '{}' is not a text", key, what));
    result[key] = value.get<std::string>();
  }
  return result;
}

// A long message of a compiler: its beginning and its end.
std::string in_short(const std::string& text) {
  constexpr std::size_t kPart = 2000;
  if (text.size() <= 2 * kPart) return text;
  return text.substr(0, kPart) + fmt::format(" ... ({} bytes left out) ... ", text.size() - 2 * kPart) +
         text.substr(text.size() - kPart);
}

}  // namespace

Result read_result(std::string_view text) {
  if (text.size() > kLargestResult) bad_result(fmt::format("{} bytes, too many", text.size()));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) bad_result("not a JSON object");
  const auto member = [&](const char* key) -> const nlohmann::json& {
    const auto at = json.find(key);
    if (at == json.end()) bad_result(fmt::format("'{}' is missing", key));
    return *at;
  };
  const auto word = [&](const char* key) {
    if (!member(key).is_string()) bad_result(fmt::format("'{}' is not a text", key));
    return member(key).get<std::string>();
  };
  const auto words = [&](const char* key) {
    if (!member(key).is_array()) bad_result(fmt::format("'{}' is not a list", key));
    std::vector<std::string> result;
    for (const auto& item : member(key)) {
      if (!item.is_string() || item.get<std::string>().empty()) bad_result(fmt::format("'{}' holds no names", key));
      result.push_back(item.get<std::string>());
    }
    return result;
  };
  Result result;
  const std::string status = word("status");
  result.ok = status == "ok";
  if (!result.ok && status != "refused") bad_result(fmt::format("status '{}' is not known", status));
  if (!result.ok) {
    result.message = in_short(word("message"));
    return result;
  }
  result.versions = texts_of(member("versions"), "versions");
  result.api = word("api");
  result.inputs = words("inputs");
  result.outputs = words("outputs");
  return result;
}

const std::map<std::string, std::string>& toolchain_versions(const std::string& python) {
  static std::mutex mutex;
  static std::map<std::string, std::map<std::string, std::string>> known;
  const std::scoped_lock lock(mutex);
  if (const auto at = known.find(python); at != known.end()) return at->second;
  const auto missing = [&](const std::string& what) {
    throw DeviceError(fmt::format("compiling for a device: '{}': {}; set TRN_NKI_PYTHON to the interpreter of an "
                                  "environment with AWS's packages nki and neuronx-cc",
                                  python, what),
                      "neff-toolchain");
  };
  const TemporaryFolder folder("versions");
  const fs::path& at = folder.path();
  write_file(at / "nki_build.py", nki_build_script(), refuse_temporary);
  const Ending ending =
      run_worker({python, "nki_build.py", "--versions", "result.json"}, at, at / "log.txt", kVersionsLimit);
  if (ending.kind == Ending::Kind::Stopped) throw DeviceError("compiling for a device: stopped", "neff-stopped");
  if (ending.kind != Ending::Kind::Exit || ending.number != 0) {
    std::string tail = read_tail(at / "log.txt", 300);
    std::replace(tail.begin(), tail.end(), '\n', ' ');
    missing(ending.text() + (tail.empty() ? "" : ": " + tail));
  }
  const auto json = nlohmann::json::parse(read_file(at / "result.json", kLargestResult).value_or(""), nullptr, false);
  if (!json.is_object()) missing("it does not answer which packages it has");
  const auto versions = texts_of(json, "versions");
  if (!versions.contains("nki")) missing("it has no package nki");
  return known[python] = versions;
}

}  // namespace trn::neuron::neff
