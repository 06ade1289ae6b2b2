// Manifests as JSON. The reader takes nothing for granted: types, ranges, names and aliases are checked, so that what
// it returns can be used as it is.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include <trn/core/error.hpp>

#include "neff/neff.hpp"

namespace trn::neuron::neff {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLargestText = std::size_t{1} << 20;
constexpr std::uint64_t kLargestTensor = std::uint64_t{1} << 46;

template <class... Args> [[noreturn]] void bad(fmt::format_string<Args...> text, Args&&... args) {
  throw DeviceError("manifest: " + fmt::format(text, std::forward<Args>(args)...), "neff-corrupt");
}

const json& member(const json& object, const char* key) {
  if (!object.is_object()) bad("an object is missing around '{}'", key);
  const auto at = object.find(key);
  if (at == object.end()) bad("'{}' is missing", key);
  return *at;
}

std::string text_of(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!value.is_string()) bad("'{}' is not a text", key);
  return value.get<std::string>();
}

std::uint64_t number_of(const json& object, const char* key, std::uint64_t most) {
  const json& value = member(object, key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) bad("'{}' is not a number up to {}", key, most);
  return value.get<std::uint64_t>();
}

Argument argument_of(const json& object) {
  Argument a{text_of(object, "name"), number_of(object, "bytes", kLargestTensor), false, text_of(object, "alias"),
             text_of(object, "tensor")};
  const json& output = member(object, "output");
  if (!output.is_boolean()) bad("'output' is not true or false");
  a.output = output.get<bool>();
  if (a.name.empty()) bad("a tensor without a name");
  return a;
}

// Names are unique on each side; an alias names an input of the same size, and no input twice.
void check(const std::vector<Argument>& arguments) {
  std::set<std::pair<std::string, bool>> names;
  std::set<std::string> aliases;
  for (const Argument& a : arguments) {
    if (!names.emplace(a.name, a.output).second) bad("two tensors are called '{}'", a.name);
    if (a.alias.empty()) continue;
    if (!a.output) bad("the input '{}' has an alias", a.name);
    const auto input = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const Argument& i) { return !i.output && i.name == a.alias; });
    if (input == arguments.end()) bad("'{}' continues '{}', which is not an input", a.name, a.alias);
    if (input->bytes != a.bytes) bad("'{}' and its alias '{}' differ in size", a.name, a.alias);
    if (!aliases.insert(a.alias).second) bad("'{}' is continued twice", a.alias);
  }
}

}  // namespace

std::string write_manifest(const Manifest& m) {
  ordered_json arguments = ordered_json::array();
  for (const Argument& a : m.arguments) {
    arguments.push_back(
        {{"name", a.name}, {"bytes", a.bytes}, {"output", a.output}, {"alias", a.alias}, {"tensor", a.tensor}});
  }
  const ordered_json out{{"format", 1},
                         {"program", m.program},
                         {"hash", fmt::format("{:016x}", m.hash)},
                         {"entry", m.entry},
                         {"machine", m.machine},
                         {"lnc", m.lnc},
                         {"arguments", arguments},
                         {"sha256", m.sha256},
                         {"versions", m.versions}};
  return out.dump(1) + "\n";
}

Manifest read_manifest(std::string_view text) {
  if (text.size() > kLargestText) bad("{} bytes; at most {} are plausible", text.size(), kLargestText);
  const json in = json::parse(text, nullptr, false);
  if (in.is_discarded()) bad("not JSON");
  if (number_of(in, "format", 1000) != 1) bad("format {} is not known here", number_of(in, "format", 1000));
  Manifest m;
  m.program = text_of(in, "program");
  const std::string hash = text_of(in, "hash");
  if (hash.size() != 16 || hash.find_first_not_of("0123456789abcdef") != std::string::npos) bad("'hash' is not a hash");
  m.hash = std::stoull(hash, nullptr, 16);
  m.entry = text_of(in, "entry");
  m.machine = text_of(in, "machine");
  m.lnc = static_cast<int>(number_of(in, "lnc", 16));
  m.sha256 = text_of(in, "sha256");
  if (m.sha256.size() != 64 || m.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
    bad("'sha256' is no SHA-256");
  }
  const json& arguments = member(in, "arguments");
  if (!arguments.is_array()) bad("'arguments' is not a list");
  for (const json& a : arguments) m.arguments.push_back(argument_of(a));
  check(m.arguments);
  const json& versions = member(in, "versions");
  if (!versions.is_object()) bad("'versions' is not an object");
  for (const auto& [name, value] : versions.items()) {
    if (!value.is_string()) bad("the version of '{}' is not a text", name);
    m.versions[name] = value.get<std::string>();
  }
  return m;
}

}  // namespace trn::neuron::neff
