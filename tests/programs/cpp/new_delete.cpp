// Every form of new and delete, objects handed from thread to thread.
#include <atomic>
#include <memory>
#include <new>

#include "../include/threads.hpp"

struct alignas(64) Aligned {
    int value;
};
struct Base {
    virtual ~Base() = default;
    virtual int get() const { return 1; }
};
struct Derived : Base {
    int more[100] = {};
    int get() const override { return 2 + more[99]; }
};

std::atomic<Base *> object;
std::atomic<int *> array;
std::atomic<Aligned *> aligned;
std::atomic<Aligned *> aligned_array;
std::atomic<int *> nothrow;

template <class T>
T *take(std::atomic<T *> &slot) {
    T *found;
    while (!(found = slot.exchange(nullptr))) {
        std::this_thread::yield();
    }
    return found;
}

template <class T>
void put(std::atomic<T *> &slot, T *made) {
    T *empty = nullptr;
    while (!slot.compare_exchange_weak(empty, made)) {
        empty = nullptr;
        std::this_thread::yield();
    }
}

int main() {
    long sum = 0;
    together(
        [] {
            for (int i = 0; i < 50; i++) {
                put<Base>(object, new Derived);
                put(array, new int[100]{1});
                put(aligned, new Aligned{2});
                put(aligned_array, new Aligned[3]{{1}, {2}, {3}});
                put(nothrow, new (std::nothrow) int(4));
            }
        },
        [&] {
            for (int i = 0; i < 50; i++) {
                Base *one = take(object);
                sum += one->get();
                delete one;
                int *many = take(array);
                sum += many[0];
                delete[] many;
                Aligned *wide = take(aligned);
                sum += wide->value;
                delete wide;
                Aligned *wider = take(aligned_array);
                sum += wider[2].value;
                delete[] wider;
                int *last = take(nothrow);
                sum += *last;
                operator delete(last, std::nothrow);
            }
        });
    std::printf("%ld\n", sum);
}
