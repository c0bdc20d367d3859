// Defines the functions that sharded/detail/outside_tensors.hpp declares.
#pragma once

#include <partita/sharded/detail/outside_tensors.hpp>

namespace partita::detail {

PARTITA_DEF void agree_on_arguments(const world& everyone, std::uint64_t fingerprint, const char* call,
                                    const tensor_argument* actual_arguments, std::size_t n,
                                    const outside_argument* expected, std::size_t arguments,
                                    const text& error_message) {
  hasher all(fingerprint);
  all.mix(call);
  local_error wrong;
  if (!error_message.empty()) wrong = {failure::other, text(call) << ": " << error_message};
  else if (n != arguments)
    wrong = local_error(text(call) << ": requires as many arguments as were traced, which are " << arguments << ", got "
                                   << n << "; give those");
  for (std::size_t i = 0; i < n && !wrong.any(); ++i) {
    const tensor_argument& x = actual_arguments[i];
    x.add_to_hash(all);
    if (!(*x.extents == expected[i].extents))
      wrong = local_error(text(call) << ": tensor " << i << " was traced with extents " << expected[i].extents
                                     << ", got " << *x.extents << "; trace the function with these");
    else if (x.type != expected[i].type)
      wrong = {failure::other, text(call) << ": tensor " << i << " was traced with elements of "
                                          << expected[i].type_name() << ", got " << x.type_name() << "; give those"};
    else if (!expected[i].accepts_tensor(x))
      wrong = {failure::partition, text(call) << ": requires tensors on the mesh of the program, of which no gradient "
                                                 "is asked, but tensor "
                                              << i << " is another; call the traced program itself"};
  }
  agree_if_checked(*everyone.state(), all.value(), wrong, [&] { return text(call); });
}

}  // namespace partita::detail
