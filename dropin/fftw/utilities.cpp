// The rest of FFTW's interface: wisdom, threads, memory. Wisdom is a list of problems in a text of our own; FFTW's is
// refused. Compiled once for each precision.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "calls.hpp"
#include "fftw.hpp"

namespace trn::dropin {

namespace {

std::string wisdom() {
  return with_planner([](Planner& p) { return wisdom_text(p); });
}
int import(const std::string& text) {
  return with_planner([&](Planner& p) { return take_wisdom(p, text) ? 1 : 0; });
}

}  // namespace

extern "C" {

// Programs compiled against FFTW's header copy these: their sizes are FFTW 3.3.10's.
__attribute__((visibility("default"))) extern const char TRN_FFTW(version)[21];
__attribute__((visibility("default"))) extern const char TRN_FFTW(cc)[96];
__attribute__((visibility("default"))) extern const char TRN_FFTW(codelet_optim)[1];
const char TRN_FFTW(version)[21] = "fftw-3.3.10-trnsci";
const char TRN_FFTW(cc)[96] = "trnsci's own transforms under FFTW's names";
const char TRN_FFTW(codelet_optim)[1] = "";

int TRN_FFTW(init_threads)() { return 1; }
void TRN_FFTW(plan_with_nthreads)(int threads) {
  with_planner([&](Planner& p) { return p.threads = threads < 1 ? 1 : threads; });
}
int TRN_FFTW(planner_nthreads)() {
  return with_planner([](Planner& p) { return p.threads; });
}
void TRN_FFTW(cleanup_threads)() {
  with_planner([](Planner& p) { return p.wisdom.clear(), p.threads = 1; });
}
void TRN_FFTW(make_planner_thread_safe)() {}  // it always is
// Loops run on the library's own threads.
void TRN_FFTW(threads_set_callback)(void (*)(void* (*)(char*), char*, std::size_t, int, void*), void*) {}

void TRN_FFTW(forget_wisdom)() {
  with_planner([](Planner& p) { return p.wisdom.clear(), 0; });
}
void TRN_FFTW(cleanup)() { TRN_FFTW(forget_wisdom)(); }
void TRN_FFTW(set_timelimit)(double) {}  // planning makes no search

void TRN_FFTW(export_wisdom)(void (*write)(char, void*), void* data) {
  for (const char c : wisdom()) write(c, data);
}
void TRN_FFTW(export_wisdom_to_file)(std::FILE* file) { std::fputs(wisdom().c_str(), file); }
int TRN_FFTW(export_wisdom_to_filename)(const char* name) {
  std::FILE* file = std::fopen(name, "w");
  if (!file) return 0;
  const bool written = std::fputs(wisdom().c_str(), file) >= 0;
  return std::fclose(file) == 0 && written ? 1 : 0;
}
char* TRN_FFTW(export_wisdom_to_string)() { return strdup(wisdom().c_str()); }

int TRN_FFTW(import_wisdom)(int (*read)(void*), void* data) {
  std::string text;
  for (int depth = 0;;) {  // one expression in parentheses, and no character behind it
    const int c = read(data);
    if (c == EOF) break;
    text += static_cast<char>(c);
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ')' && depth <= 0) break;
  }
  return import(text);
}
int TRN_FFTW(import_wisdom_from_file)(std::FILE* file) {
  return TRN_FFTW(import_wisdom)([](void* f) { return std::fgetc(static_cast<std::FILE*>(f)); }, file);
}
int TRN_FFTW(import_wisdom_from_filename)(const char* name) {
  std::FILE* file = std::fopen(name, "r");
  if (!file) return 0;
  const int taken = TRN_FFTW(import_wisdom_from_file)(file);
  std::fclose(file);
  return taken;
}
int TRN_FFTW(import_wisdom_from_string)(const char* text) { return text ? import(text) : 0; }
int TRN_FFTW(import_system_wisdom)() { return 0; }  // the system's is FFTW's own

void* TRN_FFTW(malloc)(std::size_t bytes) {
  void* address = nullptr;
  return posix_memalign(&address, 64, bytes ? bytes : 1) == 0 ? address : nullptr;
}
// Null for more bytes than there are addresses.
R* TRN_FFTW(alloc_real)(std::size_t n) {
  return n > SIZE_MAX / sizeof(R) ? nullptr : static_cast<R*>(TRN_FFTW(malloc)(n * sizeof(R)));
}
C* TRN_FFTW(alloc_complex)(std::size_t n) {
  return n > SIZE_MAX / sizeof(C) ? nullptr : static_cast<C*>(TRN_FFTW(malloc)(n * sizeof(C)));
}
void TRN_FFTW(free)(void* address) { std::free(address); }
int TRN_FFTW(alignment_of)(R*) { return 0; }  // every address is as good as another

}  // extern "C"

}  // namespace trn::dropin
