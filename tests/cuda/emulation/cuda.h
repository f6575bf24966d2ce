// Stands in for the header of that name where generated kernels are compiled for the host.
#include "emulation.hpp"
