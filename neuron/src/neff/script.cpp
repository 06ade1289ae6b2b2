// The text of tools/nki_build.py as a part of the library: the worker needs no installed file.
#include "neff/worker.hpp"

asm(".pushsection .rodata\n"
    ".globl trn_nki_build\n.hidden trn_nki_build\n"
    "trn_nki_build: .incbin \"" TRN_NKI_BUILD
    "\"\n"
    ".globl trn_nki_build_end\n.hidden trn_nki_build_end\n"
    "trn_nki_build_end: .byte 0\n"
    ".popsection\n");

extern "C" {
extern const char trn_nki_build[];
extern const char trn_nki_build_end[];
}

namespace trn::neuron::neff {

std::string_view nki_build_script() {
  return {trn_nki_build, static_cast<std::size_t>(trn_nki_build_end - trn_nki_build)};
}

}  // namespace trn::neuron::neff
