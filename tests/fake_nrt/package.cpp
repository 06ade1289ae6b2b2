// Reading the fake's NEFF: see package.hpp.
#include "package.hpp"

#include <map>
#include <stdexcept>
#include <trn/tile/serialize.hpp>

namespace fake {

namespace {

// The members of a tar, by name. Only regular files with short names.
std::map<std::string, std::string_view> members_of(std::string_view tar) {
  constexpr std::size_t kBlock = 512, kSize = 124, kSizeDigits = 11;
  std::map<std::string, std::string_view> members;
  for (std::size_t at = 0; at + kBlock <= tar.size() && tar[at] != '\0';) {
    const std::string_view head = tar.substr(at, kBlock);
    const std::string name(head.substr(0, std::min<std::size_t>(100, head.find('\0'))));
    const std::size_t bytes = std::stoull(std::string(head.substr(kSize, kSizeDigits)), nullptr, 8);
    at += kBlock;
    if (bytes > tar.size() - at) throw std::runtime_error("the tar is cut off");
    members[name.starts_with("./") ? name.substr(2) : name] = tar.substr(at, bytes);
    at += (bytes + kBlock - 1) / kBlock * kBlock;
  }
  return members;
}

}  // namespace

Package unpack(std::span<const std::byte> neff) {
  Package package;
  package.header = trn::neuron::neff::read_header(neff);
  const auto data = neff.subspan(trn::neuron::neff::kHeaderBytes);
  if (data.size() != package.header.data_bytes) throw std::runtime_error("the data is cut off");
  const auto members = members_of({reinterpret_cast<const char*>(data.data()), data.size()});
  const auto manifest = members.find("manifest.json"), program = members.find("program.json");
  if (manifest == members.end() || program == members.end()) throw std::runtime_error("this NEFF is not the fake's");
  package.manifest = trn::neuron::neff::read_manifest(manifest->second);
  const trn::tile::Program read = trn::tile::deserialize(program->second);
  package.machine = &trn::tile::machine(read.machine());
  if (const auto text = members.find("kernel.py"); text != members.end()) package.text = text->second;
  package.prepared = std::make_unique<trn::neuron::sim::Prepared>(trn::neuron::sim::prepare(read, *package.machine));
  return package;
}

}  // namespace fake
