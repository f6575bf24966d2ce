// What a product loses because of the sizes and formats of its operands: positions that instructions compute beside it,
// rows that copies cannot take at once, and numbers that lanes read one by one.
#pragma once

#include "napkin/summary.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

// Along what is summed an instruction takes k, and along its columns n at least.
void note_padding(const Contraction&, const Mainloop&, MatrixProduct&);
// Of the operands that are copied to shared memory.
void note_alignment(const MainloopOperation&, const Mainloop&, MatrixProduct&);
void note_one_by_one(const MainloopOperation&, const Mainloop&, MatrixProduct&);
// Of the inputs that it multiplies, whatever kernel they are in.
void note_alignment(const Derivation&, const Hardware*, MatrixProduct&);

}  // namespace napkin
