// What a function fills, another thread uses at the same time.
#ifndef TOUCH_H
#define TOUCH_H

#include "threads.h"

// Changes a byte of an object.
#define TOUCH(object, at) (((char *)&(object))[at] = 0)

#endif
