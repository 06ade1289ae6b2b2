// The key of a compiled program: SHA-256 of everything that can change what is built. The emitted text is a part of it,
// so a new emitter makes new entries by itself.
#include "neff/key.hpp"

#include <fmt/format.h>

#include <trn/tile/serialize.hpp>

#include "neff/sha256.hpp"

namespace trn::neuron::neff {

std::string content_key(const std::string& serialized, const std::string& kernel_text, const std::string& machine,
                        int lnc, const std::map<std::string, std::string>& versions) {
  Sha256 sum;
  sum.add_piece("trnsci NEFF 1").add_piece(machine).add_piece(fmt::format("lnc {}", lnc));
  for (const char* package : {"nki", "neuronx-cc"}) {
    const auto version = versions.find(package);
    sum.add_piece(package).add_piece(version == versions.end() ? "" : version->second);
  }
  return sum.add_piece(kernel_text).add_piece(serialized).finish();
}

std::string content_key(const tile::Program& program, const Options& options,
                        const std::map<std::string, std::string>& versions) {
  return content_key(tile::serialize(program), nki_kernel(program).text,
                     options.machine.empty() ? program.machine() : options.machine, options.lnc, versions);
}

}  // namespace trn::neuron::neff
