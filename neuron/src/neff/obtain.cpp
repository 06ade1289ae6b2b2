// obtain: bundle, cache, worker, in this order.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/serialize.hpp>

#include "neff/cache.hpp"
#include "neff/key.hpp"
#include "neff/sha256.hpp"
#include "neff/worker.hpp"

namespace trn::neuron::neff {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kDefaultLimit = std::int64_t{20} << 30;
constexpr const char* kMustAlias = ".must_alias_input";

// The caller's options with everything that was left open.
Options resolved(const tile::Program& program, Options o) {
  if (o.machine.empty()) o.machine = program.machine();
  require(o.machine == program.machine(), "compiling '{}': the program is for {}, not for {}", program.name(),
          program.machine(), o.machine);
  require(o.lnc == 1 || o.lnc == 2, "compiling '{}': lnc is {}; logical cores are 1 or 2 physical ones", program.name(),
          o.lnc);
  if (o.bundle.empty()) o.bundle = environment("TRN_NEFF_BUNDLE", "");
  if (o.cache.empty()) o.cache = environment("TRN_NEFF_CACHE", "");
  if (o.cache.empty()) {
    const std::string base = environment("XDG_CACHE_HOME", ""), home = environment("HOME", "");
    if (base.empty() && home.empty()) {
      throw DeviceError("cache of compiled programs: there is no home folder; set TRN_NEFF_CACHE to a folder",
                        "neff-cache");
    }
    o.cache = (base.empty() ? fs::path(home) / ".cache" : fs::path(base)) / "trnsci" / "neff";
  }
  o.cache = fs::absolute(o.cache);
  if (o.python.empty()) o.python = environment("TRN_NKI_PYTHON", "python3");
  // A name alone is looked up in PATH; a path counts from here, not from the worker's folder. The interpreter of a
  // virtual environment is a link that must not be followed: it finds its packages by the link's place.
  if (o.python.find('/') != std::string::npos) o.python = fs::absolute(o.python).lexically_normal().string();
  if (o.limit <= 0) {
    const std::string text = environment("TRN_NEFF_CACHE_LIMIT", "");
    o.limit = kDefaultLimit;
    if (!text.empty()) {
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), o.limit);
      require(status == std::errc() && end == text.data() + text.size() && o.limit > 0,
              "TRN_NEFF_CACHE_LIMIT is '{}'; set it to a number of bytes from 1 on, such as {} for 20 GiB", text,
              kDefaultLimit);
    }
  }
  return o;
}

class Obtaining {
 public:
  Obtaining(const tile::Program& program, const Options& options)
      : program_(program),
        options_(resolved(program, options)),
        kernel_(nki_kernel(program)),
        serialized_(tile::serialize(program)),
        cache_(options_.cache, options_.machine) {}

  Artifact run() {
    if (auto state = in_bundle()) return Artifact(state);
    std::vector<Versions> candidates;
    std::optional<DeviceError> no_toolchain;
    if (options_.compile == Compile::Foreground) {
      try {
        candidates = {toolchain_versions(options_.python)};
      } catch (const DeviceError& e) {
        no_toolchain = e;  // what was built before can still be used
      }
    }
    const bool can_build = !candidates.empty();
    if (!can_build) candidates = cache_.toolchains();
    for (const Versions& versions : candidates) {
      if (auto state = in_cache(key(versions), can_build)) return Artifact(state);
    }
    if (can_build) return Artifact(build(candidates.front()));
    if (no_toolchain) throw *no_toolchain;
    missing();
  }

 private:
  [[nodiscard]] std::string key(const Versions& versions) const {
    return content_key(serialized_, kernel_.text, options_.machine, options_.lnc, versions);
  }

  // What the NEFF's tensors are called, as the kernel has them.
  [[nodiscard]] std::vector<Argument> arguments() const {
    std::set<std::int32_t> continued;
    for (const NkiArgument& r : kernel_.results) continued.insert(r.parameter);
    const auto tensor = [&](const NkiArgument& a) {
      return program_.tensors()[static_cast<std::size_t>(a.tensor)].name;
    };
    std::vector<Argument> result;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const NkiArgument& p = kernel_.parameters[i];
      const bool alias = continued.contains(static_cast<std::int32_t>(i));
      result.push_back({p.name + (alias ? kMustAlias : ""), p.bytes, false, "", tensor(p)});
    }
    for (const NkiArgument& r : kernel_.results) {
      const std::string alias = r.parameter < 0 ? "" : result[static_cast<std::size_t>(r.parameter)].name;
      result.push_back({r.name, r.bytes, true, alias, tensor(r)});
    }
    return result;
  }

  // An entry that is whole may still be another program's: a key that was forced, a file that was moved.
  void check_belongs(const Artifact::State& state) const {
    const Manifest& m = state.manifest;
    bool same = m.program == program_.name() && m.hash == program_.hash() && m.machine == options_.machine &&
                m.lnc == options_.lnc && m.entry == kernel_.entry;
    const std::vector<Argument> wanted = arguments();
    same = same && m.arguments.size() == wanted.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) {
      const Argument &a = m.arguments[i], &b = wanted[i];
      same = a.tensor == b.tensor && a.bytes == b.bytes && a.output == b.output && a.alias.empty() == b.alias.empty();
    }
    if (!same) {
      throw DeviceError(fmt::format("compiled program {}: made for '{}' ({:016x}, {}, lnc {}), not for '{}' ({:016x}, "
                                    "{}, lnc {})",
                                    state.path.string(), m.program, m.hash, m.machine, m.lnc, program_.name(),
                                    program_.hash(), options_.machine, options_.lnc),
                        "neff-corrupt");
    }
  }

  std::shared_ptr<Artifact::State> in_bundle() const {
    if (options_.bundle.empty()) return nullptr;
    std::error_code error;
    if (!fs::is_directory(options_.bundle, error)) {
      throw DeviceError(fmt::format("bundle of compiled programs: '{}' is not a folder; correct TRN_NEFF_BUNDLE",
                                    options_.bundle.string()),
                        "neff-missing");
    }
    const Cache bundle(options_.bundle, options_.machine);
    const std::vector<Versions> toolchains = bundle.toolchains();
    // Without the versions no program's key is known: whole programs would be passed over.
    if (toolchains.empty() && bundle.has_programs()) {
      throw DeviceError(fmt::format("bundle of compiled programs: {} is missing or damaged; make the bundle again with "
                                    "trnsci neffc, or copy it whole",
                                    (options_.bundle / "toolchains.json").string()),
                        "neff-corrupt");
    }
    for (const Versions& versions : toolchains) {
      const Cache::Entry entry = bundle.find(key(versions), options_.lnc);
      if (const auto* state = std::get_if<std::shared_ptr<Artifact::State>>(&entry)) {
        check_belongs(**state);
        return *state;
      }
    }
    return nullptr;
  }

  // Null: not there, or to be built again.
  std::shared_ptr<Artifact::State> in_cache(const std::string& key, bool can_build) const {
    Cache::Entry entry;
    try {
      entry = cache_.find(key, options_.lnc);
      if (const auto* state = std::get_if<std::shared_ptr<Artifact::State>>(&entry)) {
        check_belongs(**state);
        return *state;
      }
    } catch (const DeviceError& e) {
      if (can_build && (e.check() == "neff-corrupt" || e.check() == "wrong-lnc")) return nullptr;
      throw;
    }
    const auto* failure = std::get_if<Failure>(&entry);
    if (failure == nullptr) return nullptr;
    const bool longer = failure->time_limit > 0 && options_.time_limit > failure->time_limit;
    if (can_build && (options_.retry_failed || longer)) return nullptr;
    // The end of the compiler's log comes last.
    const std::size_t end = std::min(failure->message.find('\n'), failure->message.size());
    throw DeviceError(fmt::format("{} (on record: {}; remove it to try again){}", failure->message.substr(0, end),
                                  failure->path.string(), failure->message.substr(end)),
                      failure->check);
  }

  [[noreturn]] void missing() const {
    const fs::path folder = cache_.root() / "missing" / options_.machine;
    std::string how;
    try {
      make_folder(folder);
      tile::save(program_, (folder / (key({}).substr(0, 32) + ".json")).string());
      how = fmt::format(
          "make it, and whatever else was missing, on a machine with AWS's compiler: "
          "trnsci neffc --machine {} --lnc {} --list {} -o BUNDLE",
          options_.machine, options_.lnc, folder.string());
    } catch (const Error&) {
      how = fmt::format(
          "it could not be saved in {}: set TRN_NEFF_CACHE to a folder that can be written, run again, "
          "and then trnsci neffc --machine {} --lnc {} --list {} -o BUNDLE",
          folder.string(), options_.machine, options_.lnc, folder.string());
    }
    throw DeviceError(fmt::format("program '{}' for {} is not compiled, and compiling is forbidden here; {}; then set "
                                  "TRN_NEFF_BUNDLE to BUNDLE",
                                  program_.name(), options_.machine, how),
                      "neff-missing");
  }

  std::shared_ptr<Artifact::State> build(const Versions& versions) {
    const std::string key = this->key(versions);
    const Descriptor lock = cache_.lock(key);
    if (auto state = in_cache(key, true)) return state;  // built while we waited
    const auto begin = std::chrono::steady_clock::now();
    const Workspace workspace(cache_);
    const fs::path& at = workspace.path();
    write_file(at / "nki_build.py", nki_build_script());
    write_file(at / "kernel.py", kernel_.text);
    write_file(at / "program.json", serialized_);
    write_file(at / "request.json", write_request(program_, kernel_, options_.lnc));
    const Ending ending = run_worker({options_.python, "nki_build.py", "request.json", "result.json"}, at,
                                     at / "log.txt", options_.time_limit);
    try {
      finish(at, ending, versions);
    } catch (const DeviceError& e) {
      record(at, ending, e, key);
      throw;
    }
    cache_.remember(versions);
    cache_.publish(at / "entry", key, options_.limit);
    auto state = in_cache(key, true);
    ensure(state != nullptr, "cache of compiled programs: {} is not there after its build", cache_.entry(key).string());
    state->built = true;
    state->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return state;
  }

  // The entry out of what the worker left, in the folder `entry`.
  void finish(const fs::path& at, const Ending& ending, const Versions& versions) const {
    const auto failed = [&](const char* check, const std::string& what) {
      throw DeviceError(fmt::format("compiling '{}' for {}: {}{}", program_.name(), options_.machine, what, tail(at)),
                        check);
    };
    if (ending.kind == Ending::Kind::NotStarted) failed("neff-toolchain", options_.python + ": " + ending.text());
    if (ending.kind == Ending::Kind::Stopped) {
      throw DeviceError(fmt::format("compiling '{}' for {}: stopped", program_.name(), options_.machine),
                        "neff-stopped");
    }
    if (ending.kind == Ending::Kind::Timeout) {
      failed("neff-timeout", fmt::format("not done after {:g} s, the time limit", options_.time_limit));
    }
    const auto text = read_file(at / "result.json", std::size_t{1} << 20);
    if (!text) failed("neff-build", "the toolchain gave no result; " + ending.text());
    Result result;
    try {
      result = read_result(*text);
    } catch (const DeviceError& e) {
      failed("neff-build", fmt::format("{}; {}", e.what(), ending.text()));
    }
    if (!result.ok) failed("neff-build", "the toolchain refused it: " + result.message);
    if (ending.kind != Ending::Kind::Exit || ending.number != 0) failed("neff-build", ending.text());
    Manifest m{kernel_.entry,   arguments(),     options_.machine, options_.lnc, "",
               result.versions, program_.name(), program_.hash()};
    for (const auto& [package, version] : versions) m.versions[package] = version;
    m.versions["api"] = result.api;
    take_names(m, result, failed);
    const Descriptor file = open_file(at / "kernel.neff", O_RDONLY);
    const auto neff = file.open() ? Mapping::of(file) : std::nullopt;
    if (!neff) failed("neff-build", "the toolchain left no NEFF");
    (void)check_neff(neff->bytes(), options_.lnc, fmt::format("compiling '{}'", program_.name()));
    m.sha256 = sha256(neff->bytes());
    const fs::path entry = at / "entry";
    make_folder(entry);
    write_file(entry / "manifest.json", write_manifest(m));
    move_into(at, entry, "kernel.neff");
    move_into(at, entry, "kernel.py");
    move_into(at, entry, "log.txt");
  }

  // The NEFF's own names, in its order: those of the kernel, with or without the mark of an alias.
  template <class Failed> void take_names(Manifest& m, const Result& result, const Failed& failed) const {
    std::size_t inputs = 0, outputs = 0;
    for (const Argument& a : m.arguments) ++(a.output ? outputs : inputs);
    if (result.inputs.size() != inputs || result.outputs.size() != outputs) {
      failed("neff-names", fmt::format("the NEFF has {} inputs and {} outputs; the kernel {} and {}",
                                       result.inputs.size(), result.outputs.size(), inputs, outputs));
    }
    std::map<std::string, std::string> renamed;
    for (std::size_t i = 0; i < m.arguments.size(); ++i) {
      Argument& a = m.arguments[i];
      const std::string& name = a.output ? result.outputs[i - inputs] : result.inputs[i];
      const std::string& wanted = a.output ? kernel_.results[i - inputs].name : kernel_.parameters[i].name;
      const bool by_number = a.output && name == fmt::format("output_{}", i - inputs);  // what nki calls results
      if (name != wanted && name != a.name && !by_number) {
        failed("neff-names", fmt::format("the NEFF calls {} {} '{}'; the kernel '{}'", a.output ? "output" : "input",
                                         a.output ? i - inputs : i, name, wanted));
      }
      renamed[a.name] = name;
      a.name = name;
      if (!a.alias.empty()) a.alias = renamed.at(a.alias);
    }
  }

  static void move_into(const fs::path& from, const fs::path& to, const char* name) {
    if (std::rename((from / name).c_str(), (to / name).c_str()) != 0) refuse_write(to / name, errno);
  }

  static std::string tail(const fs::path& at) {
    constexpr std::size_t kTail = 4096;
    const std::string text = read_tail(at / "log.txt", kTail);
    return text.empty() ? "" : "\n" + text;
  }

  // A refusal is an entry too. What the machine may do better next time is not: no interpreter, no room, no memory, no
  // time.
  void record(const fs::path& at, const Ending& ending, const DeviceError& e, const std::string& key) {
    if (e.check() == "neff-cache" || e.check() == "neff-toolchain" || e.check() == "neff-stopped") return;
    if (ending.kind == Ending::Kind::Signal && ending.number == SIGKILL) return;
    const fs::path entry = at / "entry";
    std::error_code error;
    fs::remove_all(entry, error);
    try {
      make_folder(entry);
      const nlohmann::json out{{"check", e.check()},
                               {"message", e.what()},
                               {"time_limit", e.check() == "neff-timeout" ? options_.time_limit : 0}};
      write_file(entry / "failed.json", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
      move_into(at, entry, "kernel.py");
      if (fs::exists(at / "log.txt")) move_into(at, entry, "log.txt");
      cache_.publish(entry, key, options_.limit);
    } catch (const Error&) {
      // The failure itself is what the caller hears of.
    }
  }

  const tile::Program& program_;
  const Options options_;
  const NkiKernel kernel_;
  const std::string serialized_;
  Cache cache_;
};

}  // namespace

const fs::path& Artifact::path() const { return state_->path; }
std::span<const std::byte> Artifact::bytes() const { return state_->neff.bytes(); }
const Manifest& Artifact::manifest() const { return state_->manifest; }
const std::string& Artifact::key() const { return state_->key; }
bool Artifact::built() const { return state_->built; }
double Artifact::seconds() const { return state_->seconds; }

Artifact obtain(const tile::Program& program, const Options& options) {
  try {
    return Obtaining(program, options).run();
  } catch (const fs::filesystem_error& e) {
    throw DeviceError(fmt::format("cache of compiled programs: {}", e.what()), "neff-cache");
  }
}

}  // namespace trn::neuron::neff
