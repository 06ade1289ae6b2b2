// Programs as JSON. The writer and the reader are two visitors over the field lists of the program structs, so a new
// field travels without a line here. Every trouble with a file is one InvalidArgument that says where it is.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <trn/core/error.hpp>
#include <trn/core/output_file.hpp>
#include <trn/tile/serialize.hpp>

#include "fields.hpp"

namespace trn::tile {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "trnsci tile program";
// 2: attributes by opcode; 3: reduce_cmd, issuer, src_value; 4: array tiles; 5: dynamic loops and starts
constexpr std::int64_t kVersion = 5;
constexpr std::string_view kNotFinite = "bits:";  // "bits:7ff0000000000000": JSON has no infinities and no NaN

template <class T> Json to_json(const T& value);

struct Writer {
  Json object = Json::object();
  template <class T> void operator()(const char* field, const T& value) { object[field] = to_json(value); }
};

template <class T> Json to_json(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(value)) return value;
    return fmt::format("{}{:016x}", kNotFinite, std::bit_cast<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_integral_v<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(value));
  } else if constexpr (is_vector<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(to_json(element));
    return array;
  } else {
    Writer writer;
    T::visit(value, writer);
    return std::move(writer.object);
  }
}

// Why a text is not a program; deserialize() and load() say whose text it is.
struct Refusal {
  std::string reason;
};
template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  constexpr std::size_t kLongest = 400;  // what a file says may be of any length, and hold line ends
  std::string message = fmt::format(text, std::forward<Args>(args)...);
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 32) c = '?';
  }
  throw Refusal{message.substr(0, kLongest) + (message.size() > kLongest ? "..." : "")};
}

std::string shown(const Json& json) {
  const std::string text = json.dump();
  return text.size() <= 60 ? text : text.substr(0, 60) + "...";
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  if (text.size() != 16) return std::nullopt;
  for (const char c : text) {
    const std::string_view digits = "0123456789abcdef";
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + digit;
  }
  return value;
}

// The enumerator with this name. A name past the last enumerator is empty; dtypes have their own list.
template <class E> std::optional<E> enumerator(std::string_view text) {
  if constexpr (std::is_same_v<E, DType>) {
    for (const DType d : all_dtypes()) {
      if (name(d) == text) return d;
    }
  } else {
    for (int i = 0; !name(static_cast<E>(i)).empty(); ++i) {
      if (name(static_cast<E>(i)) == text) return static_cast<E>(i);
    }
  }
  return std::nullopt;
}

template <class T> void from_json(const Json& json, const std::string& where, T& value);

struct Reader {
  const Json& object;
  const std::string& where;
  std::size_t fields = 0;
  template <class T> void operator()(const char* field, T& value) {
    ++fields;
    const auto found = object.find(field);
    if (found == object.end()) refuse("{} lacks the field '{}'", where, field);
    from_json(*found, where + "." + field, value);
  }
};

template <class T> void integer_from_json(const Json& json, const std::string& where, T& value) {
  if (!json.is_number_integer()) refuse("{} is {} instead of an integer", where, shown(json));
  const bool huge = json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  const std::int64_t wide = huge ? 0 : json.get<std::int64_t>();
  if (huge || wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
    refuse("{} is {}, outside its range", where, shown(json));
  }
  value = static_cast<T>(wide);
}

void double_from_json(const Json& json, const std::string& where, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return;
  }
  const std::string text = json.is_string() ? json.get<std::string>() : std::string();
  const bool tagged = text.rfind(kNotFinite, 0) == 0;
  const auto bits = tagged ? parse_hex(std::string_view(text).substr(kNotFinite.size())) : std::nullopt;
  if (!bits) refuse("{} is {} instead of a number", where, shown(json));
  value = std::bit_cast<double>(*bits);
}

template <class T> void from_json(const Json& json, const std::string& where, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) refuse("{} is {} instead of text", where, shown(json));
    value = json.get<std::string>();
  } else if constexpr (std::is_same_v<T, double>) {
    double_from_json(json, where, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) refuse("{} is {} instead of true or false", where, shown(json));
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    integer_from_json(json, where, value);
  } else if constexpr (std::is_enum_v<T>) {
    const auto found = json.is_string() ? enumerator<T>(json.get<std::string>()) : std::nullopt;
    if (!found) refuse("{} is {}, a name this version does not know", where, shown(json));
    value = *found;
  } else if constexpr (is_vector<T>) {
    if (!json.is_array()) refuse("{} is not a list", where);
    value.resize(json.size());
    for (std::size_t i = 0; i < value.size(); ++i) from_json(json[i], fmt::format("{}[{}]", where, i), value[i]);
  } else {
    if (!json.is_object()) refuse("{} is not an object", where);
    Reader reader{json, where};
    T::visit(value, reader);
    if (reader.fields != json.size()) refuse("{} has {} fields instead of {}", where, json.size(), reader.fields);
  }
}

// How deep lists and objects nest. Programs nest less than 20 deep; what is far deeper would exhaust the stack of those
// who walk it.
std::int64_t nesting(std::string_view text) {
  std::int64_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

Json parse(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("the text is empty");
  constexpr std::int64_t kDeepest = 100;
  if (nesting(text) > kDeepest) refuse("lists or objects nest more than {} deep", kDeepest);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    refuse("not JSON, or cut short, at byte {} of {}", e.byte, text.size());
  } catch (const Json::exception&) {
    refuse("not JSON: a number or a name that cannot be read");
  }
}

// The envelope around a program.
struct File {
  std::string format;
  std::int64_t version = 0;
  std::string hash;
  Program::Parts program;
};

File read_file(const Json& json) {
  File file;
  const std::string where = "the file";
  if (!json.is_object()) refuse("{} is not an object", where);
  Reader reader{json, where};
  reader("format", file.format);
  if (file.format != kFormat) refuse("the format is '{}' instead of '{}'", file.format, kFormat);
  reader("version", file.version);
  if (file.version != kVersion)
    refuse("version {}; this build reads version {}: write it anew", file.version, kVersion);
  reader("hash", file.hash);
  reader("program", file.program);
  return file;
}

Program construct(Program::Parts parts) {
  try {
    return Program(std::move(parts));
  } catch (const InternalError& e) {
    refuse("the program is inconsistent: {}", e.what());
  }
}

Program read(std::string_view text) {
  File file = read_file(parse(text));
  Program program = construct(std::move(file.program));
  const std::string hash = fmt::format("{:016x}", program.hash());
  if (file.hash != hash) {
    refuse("the stored hash is '{}' but the program's is '{}'; the file was edited or damaged", file.hash, hash);
  }
  return program;
}

}  // namespace

std::string serialize(const Program& program) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["hash"] = fmt::format("{:016x}", program.hash());
  json["program"] = to_json(program.parts());
  try {
    return json.dump(1) + "\n";
  } catch (const Json::exception&) {
    fail<InvalidArgument>("serialize: program '{}' has a name that is not UTF-8", program.name());
  }
}

Program deserialize(std::string_view text) {
  try {
    return read(text);
  } catch (const Refusal& refusal) {
    fail<InvalidArgument>("deserialize: {}", refusal.reason);
  }
}

void save(const Program& program, const std::string& path) {
  OutputFile out("save: program '" + program.name() + "'", path);
  out.write(serialize(program));
  out.commit();
}

Program load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ignored;
  require(in.good() && !std::filesystem::is_directory(path, ignored), "load: cannot read '{}'; check the path", path);
  require(!std::filesystem::is_character_file(path, ignored) && !std::filesystem::is_block_file(path, ignored),
          "load: '{}' is a device, which may never end; give a file", path);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  try {
    return read(text);
  } catch (const Refusal& refusal) {
    fail<InvalidArgument>("load: '{}': {}", path, refusal.reason);
  }
}

}  // namespace trn::tile
