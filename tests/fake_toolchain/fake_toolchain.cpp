// A toolchain for tests: stands where TRN_NKI_PYTHON names an interpreter and answers the worker's two questions
// itself, in milliseconds. Its NEFF has the real header of 1024 bytes and then a tar file of
//
//   kernel.py program.json manifest.json       the last with the tensors' names as the NEFF has them
//
// The variable TRN_FAKE_TOOLCHAIN, set by a wrapper because the worker's environment is reduced, holds rules separated
// by spaces: exit=N, crash, hang, garbage, refuse, names, count (one result too many), lnc=N, slow=MS, empty (no NEFF),
// truncated, noisy (64 KiB of log), no-nki, and builds=FILE: one byte is appended to FILE for each build.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

namespace {

using nlohmann::json;

std::string rule(const std::string& name, bool& present) {
  const char* text = std::getenv("TRN_FAKE_TOOLCHAIN");
  std::istringstream rules(text == nullptr ? "" : text);
  for (std::string word; rules >> word;) {
    if (word.substr(0, word.find('=')) != name) continue;
    present = true;
    return word.find('=') == std::string::npos ? "" : word.substr(word.find('=') + 1);
  }
  present = false;
  return "";
}

bool has(const std::string& name) {
  bool present = false;
  (void)rule(name, present);
  return present;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out.good();
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

// One file of a ustar archive.
std::string member(const std::string& name, const std::string& content) {
  std::string header(512, '\0');
  const auto field = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  char octal[16];
  field(0, name);
  field(100, "0000644");
  field(108, "0000000");
  field(116, "0000000");
  std::snprintf(octal, sizeof octal, "%011zo", content.size());
  field(124, octal);
  field(136, "00000000000");
  field(148, "        ");
  field(156, "0");
  field(257, std::string("ustar\0", 6));
  field(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  field(148, std::string(octal, 7));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string neff(const std::string& tar, const std::string& name, std::uint32_t lnc) {
  std::string h(1024, '\0');
  put(h, 0, 2, 8);
  put(h, 8, 1024, 8);
  put(h, 16, tar.size(), 8);
  put(h, 24, 2, 8);
  put(h, 32, 0, 8);
  h.replace(40, 14, "fake toolchain");
  put(h, 168, 1, 4);
  h.replace(220, std::min<std::size_t>(name.size(), 255), name, 0, 255);
  put(h, 476, 1, 4);
  put(h, 552, lnc, 4);
  return h + tar;
}

json manifest(const json& request, int lnc) {
  json arguments = json::array();
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < request["parameters"].size(); ++i) {
    const json& p = request["parameters"][i];
    std::string name = p["name"];
    for (const json& r : request["results"]) {
      if (r["parameter"] == static_cast<int>(i)) name += ".must_alias_input";
    }
    inputs.push_back(name);
    arguments.push_back(
        {{"name", name}, {"bytes", p["bytes"]}, {"output", false}, {"alias", ""}, {"tensor", p["tensor"]}});
  }
  for (const json& r : request["results"]) {
    const int parameter = r["parameter"];
    arguments.push_back({{"name", r["name"]},
                         {"bytes", r["bytes"]},
                         {"output", true},
                         {"alias", parameter < 0 ? "" : inputs[static_cast<std::size_t>(parameter)]},
                         {"tensor", r["tensor"]}});
  }
  return {{"format", 1},
          {"program", ""},
          {"hash", "0000000000000000"},
          {"entry", request["entry"]},
          {"machine", request["machine"]},
          {"lnc", lnc},
          {"arguments", arguments},
          {"sha256", std::string(64, '0')},
          {"versions", json::object()}};
}

const json kVersions{{"nki", "0.6.0"}, {"neuronx-cc", "2.27.0"}};

int build(const std::string& request_path, const std::string& result_path) {
  const json request = json::parse(read(request_path));
  bool present = false;
  if (const std::string file = rule("builds", present); present) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (descriptor < 0 || ::write(descriptor, "b", 1) != 1) return 3;
    close(descriptor);
  }
  if (const std::string ms = rule("slow", present); present) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(ms)));
  }
  std::puts("fake toolchain");
  if (has("noisy")) std::puts(std::string(65536, '.').c_str());
  std::fflush(stdout);
  if (has("hang")) pause();
  if (has("crash")) std::abort();
  if (const std::string status = rule("exit", present); present) return std::stoi(status);
  if (has("garbage")) return write(result_path, "{\"status\": [1, 2") ? 0 : 3;
  if (has("refuse")) {
    const json out{{"status", "refused"}, {"message", "nki 0.6: SyntaxError: not today"}};
    return write(result_path, out.dump()) ? 0 : 3;
  }
  const std::string lnc_rule = rule("lnc", present);
  const int lnc = present ? std::stoi(lnc_rule) : request["lnc"].get<int>();
  const json inside = manifest(request, lnc);
  json inputs = json::array(), outputs = json::array();
  for (const json& a : inside["arguments"]) (a["output"] ? outputs : inputs).push_back(a["name"]);
  if (has("names")) outputs[0] = "somebody_else";
  if (has("count")) outputs.push_back("one_more");
  const std::string tar = member("kernel.py", read(request["kernel"])) +
                          member("program.json", read(request["program"])) + member("manifest.json", inside.dump(1)) +
                          std::string(1024, '\0');
  std::string bytes = neff(tar, request["entry"], static_cast<std::uint32_t>(lnc));
  if (has("truncated")) bytes.resize(bytes.size() / 2);
  if (!has("empty") && !write(request["output"], bytes)) {
    std::fputs("No space left on device\n", stderr);
    return 4;
  }
  const json out{{"status", "ok"}, {"api", "fake"}, {"inputs", inputs}, {"outputs", outputs}, {"versions", kVersions}};
  return write(result_path, out.dump()) ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: fake_toolchain SCRIPT REQUEST|--versions RESULT\n", stderr);
    return 2;
  }
  if (std::strcmp(argv[2], "--versions") == 0) {
    json versions = kVersions;
    if (has("no-nki")) versions.erase("nki");
    return write(argv[3], versions.dump()) ? 0 : 4;
  }
  return build(argv[2], argv[3]);
}
