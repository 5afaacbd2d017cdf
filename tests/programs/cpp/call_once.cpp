// std::call_once, with a first try that throws; and static variables of functions, which the compiler guards.
#include <mutex>
#include <string>

#include "../include/threads.hpp"

std::once_flag flag;
int tries, value, made;

struct Made {
    int number;
    std::string text;
    Made() : number(++made), text("a string too long to fit into the object itself") {
        std::this_thread::yield();
    }
};

const Made &instance() {
    static Made only;
    return only;
}

template <class T>
const T &per_type() {
    static const T only = T(7);
    return only;
}

int main() {
    int seen[8];
    size_t lengths[8];
    crowd(8, [&](int n) {
        try {
            std::call_once(flag, [] {
                value = ++tries;
                if (tries == 1) {
                    throw 1;
                }
            });
        } catch (int) {
            std::call_once(flag, [] { value = ++tries; });
        }
        seen[n] = value + per_type<int>() + per_type<long>();
        lengths[n] = instance().text.size() + instance().number;
    });
    std::printf("%d %d %zu %zu %d\n", seen[0], seen[7], lengths[0], lengths[7], made);
}
