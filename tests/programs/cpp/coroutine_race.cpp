// A variable in a coroutine's frame, captured by reference, is used by the thread that resumes and by another.
#include <coroutine>

#include "../include/threads.hpp"

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

int *shared;

Task steps() {
    int local = 0;
    shared = &local;
    co_await std::suspend_always{};
    local++; //~ RACE local
    co_await std::suspend_always{};
    std::printf("%d\n", local);
}

int main() {
    Task task = steps();
    together(
        [&] {
            turn(1);
            task.handle.resume();
            next_turn();
        },
        [] {
            turn(2);
            ++*shared; //~ RACE local
            next_turn();
        });
    task.handle.resume();
    task.handle.destroy();
}
