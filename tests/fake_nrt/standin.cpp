// The stand-in's process and the talk with it: see standin.hpp and tests/nki_standin/serve.py.
#include "standin.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "test_paths.hpp"

namespace fake {

namespace {

using nlohmann::json;

class Server {
 public:
  // Never ended: it ends itself when this process does, and with it the other side of the pipe.
  static Server& of_process() {
    static Server& made = *new Server;
    return made;
  }

  std::string run(FakeModel& model, const FakeSet& in, const FakeSet& out) {
    const std::scoped_lock lock(mutex_);
    if (to_ < 0) return "the stand-in's process does not start";
    if (model.key == 0) model.key = ++keys_;
    const Package& package = model.package;
    json request{{"key", model.key}, {"target", package.machine->name}, {"text", nullptr}};
    if (!model.sent) request["text"] = package.text;
    request["inputs"] = request["outputs"] = json::array();
    for (const auto& a : package.manifest.arguments) {
      if (a.output) {
        request["outputs"].push_back({a.name, a.bytes, a.alias});
      } else {
        request["inputs"].push_back({a.name, a.bytes});
      }
    }
    const std::string line = request.dump() + "\n";
    bool good = put(line.data(), line.size());
    for (const auto& a : package.manifest.arguments) {
      if (!a.output) good = good && put(in.tensors.at(a.name)->data(), a.bytes);
    }
    std::string answer;
    for (char c = 0; good && c != '\n';) {
      good = get(&c, 1);
      answer += c;
    }
    if (!good) return "the stand-in's process ended";
    model.sent = true;
    const std::string error = json::parse(answer).at("error");
    if (!error.empty()) return error;
    for (const auto& a : package.manifest.arguments) {
      if (a.output) good = good && get(out.tensors.at(a.name)->data(), a.bytes);
    }
    return good ? "" : "the stand-in's process ended";
  }

 private:
  Server() {
    signal(SIGPIPE, SIG_IGN);
    int requests[2], answers[2];
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, requests[0], 0);
    posix_spawn_file_actions_adddup2(&actions, answers[1], 1);
    std::string python = TRN_PYTHON, option = "-B",
                script = std::string(TRN_SOURCE_DIR) + "/tests/nki_standin/serve.py";
    char* arguments[] = {python.data(), option.data(), script.data(), nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, python.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(requests[0]);
    close(answers[1]);
    if (failed != 0) return;
    to_ = requests[1];
    from_ = answers[0];
  }

  bool put(const void* data, std::size_t bytes) const {
    for (const auto* at = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t n = write(to_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool get(void* data, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(data); bytes > 0;) {
      const ssize_t n = read(from_, at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }

  std::mutex mutex_;
  int to_ = -1, from_ = -1;
  std::uint64_t keys_ = 0;
};

}  // namespace

std::string run_text(FakeModel& model, const FakeSet& in, const FakeSet& out) {
  return Server::of_process().run(model, in, out);
}

}  // namespace fake
