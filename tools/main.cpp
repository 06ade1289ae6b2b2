// The `trnsci` command: parses, runs one subcommand, and turns every error into one line. Exit status 2 for a mistake in
// the arguments, 1 for anything that went wrong while running.
#include <cstdio>

#include <trn/core/error.hpp>

#include "commands.hpp"

int main(int argc, char** argv) {
  using namespace trn::tools;
  CLI::App app{"trnsci: math libraries for AWS Trainium. Without a subcommand: a short demonstration.", "trnsci"};
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", TRN_VERSION);
  const Operations all = operations();
  add_info(app);
  add_bench(app, all);
  add_profile(app, all);
  add_emit(app, all);
  add_disassemble(app, all);
  add_validate(app);
  add_coverage(app);
  add_fuzz(app);
  add_rand(app);
  add_mp2(app);
  add_mp2_model(app);
  try {
    app.parse(argc, argv);  // a chosen subcommand runs here
    if (app.get_subcommands().empty()) demonstration();
    return 0;
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "trnsci: {}; try 'trnsci --help'\n", e.what());
    return 2;
  } catch (const trn::InvalidArgument& e) {
    fmt::print(stderr, "trnsci: {}\n", e.what());
    return 2;
  } catch (const trn::NotImplemented& e) {
    fmt::print(stderr, "trnsci: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "trnsci: {}\n", e.what());
    return 1;
  }
}
