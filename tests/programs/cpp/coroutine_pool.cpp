// Coroutines that move between the threads of a pool, and wait for one another.
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <string>

#include "../include/threads.hpp"

struct Pool {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<std::coroutine_handle<>> queue;
    int left = 0;
    void post(std::coroutine_handle<> handle) {
        std::lock_guard lock(mutex);
        queue.push_back(handle);
        filled.notify_one();
    }
    void done() {
        std::lock_guard lock(mutex);
        left--;
        filled.notify_all();
    }
    void work() {
        for (;;) {
            std::unique_lock lock(mutex);
            filled.wait(lock, [&] { return !queue.empty() || left == 0; });
            if (queue.empty()) {
                return;
            }
            auto handle = queue.front();
            queue.pop_front();
            lock.unlock();
            handle.resume();
        }
    }
    struct Hop {
        Pool &pool;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle) { pool.post(handle); }
        void await_resume() {}
    };
    Hop hop() { return {*this}; }
};

template <class T>
struct Task {
    struct promise_type {
        T value{};
        std::exception_ptr failure;
        std::coroutine_handle<> waiter;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct Final {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> handle) noexcept {
                auto waiter = handle.promise().waiter;
                return waiter ? waiter : std::noop_coroutine();
            }
            void await_resume() noexcept {}
        };
        Final final_suspend() noexcept { return {}; }
        void return_value(T result) { value = std::move(result); }
        void unhandled_exception() { failure = std::current_exception(); }
    };
    std::coroutine_handle<promise_type> handle;
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) {
        handle.promise().waiter = waiter;
        return handle;
    }
    T await_resume() {
        auto value = std::move(handle.promise().value);
        auto failure = handle.promise().failure;
        handle.destroy();
        if (failure) {
            std::rethrow_exception(failure);
        }
        return value;
    }
};

Pool pool;

Task<std::string> step(int n) {
    std::string text = "a step with a text that is too long for the object " + std::to_string(n);
    co_await pool.hop();
    if (n % 5 == 4) {
        throw n;
    }
    co_return text;
}

Task<int> all(int *out) {
    for (int n = 0; n < 10; n++) {
        try {
            std::string text = co_await step(n);
            *out += text.size();
        } catch (int failed) {
            *out += failed;
        }
        co_await pool.hop();
    }
    pool.done();
    co_return 0;
}

int main() {
    int outs[8] = {};
    std::vector<Task<int>> tasks;
    for (int &out : outs) {
        tasks.push_back(all(&out));
    }
    pool.left = 8;
    for (auto &task : tasks) {
        pool.post(task.handle);
    }
    crowd(3, [](int) { pool.work(); });
    for (auto &task : tasks) {
        task.handle.destroy();
    }
    std::printf("%d %d\n", outs[0], outs[7]);
}
