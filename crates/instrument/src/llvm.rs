//! Contexts, modules and target machines: what LLVM makes and we must give back.
//!
//! Every compilation has a context of its own, so that modules can be compiled by threads in parallel. LLVM speaks of
//! errors in three ways, and all of them end in an [`Error`] or on stderr with the module's name: results of functions,
//! diagnostics (collected by a handler), and fatal errors, after which LLVM ends the process by itself.

use crate::module::{Error, Options};
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::{LLVMDiagnosticSeverity, LLVMModule};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};
use std::sync::Once;

thread_local! {
    /// What this thread compiles, for the message of a fatal error.
    static MODULE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A context, and the diagnostics that came up in it.
pub struct Context {
    raw: LLVMContextRef,
    /// The handler has its address, and only errors are kept.
    errors: Box<RefCell<Vec<String>>>,
}

impl Context {
    /// A context for the module called `name`.
    pub fn new(name: &str) -> Context {
        initialise();
        MODULE.set(name.to_owned());
        let errors = Box::new(RefCell::new(Vec::new()));
        // SAFETY: the handler gets the address of `errors`, whose box lives as long as the context.
        let raw = unsafe {
            let raw = LLVMContextCreate();
            let collector = &raw const *errors;
            LLVMContextSetDiagnosticHandler(raw, Some(collect), collector.cast_mut().cast());
            raw
        };
        Context { raw, errors }
    }

    /// Reads bitcode.
    pub fn parse_bitcode(&self, bitcode: &[u8]) -> Result<Module<'_>, Error> {
        let mut module = null_mut();
        // SAFETY: the buffer is used during the call only: this function reads the whole module at once.
        let failed = unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(
                bitcode.as_ptr().cast(),
                bitcode.len(),
                c"bitcode".as_ptr(),
                0,
            );
            let failed = LLVMParseBitcodeInContext2(self.raw, buffer, &raw mut module);
            LLVMDisposeMemoryBuffer(buffer);
            failed
        };
        match NonNull::new(module) {
            Some(module) if failed == 0 => Ok(Module::new(module)),
            _ => Err(self.error("not readable as bitcode")),
        }
    }

    /// Reads a module as text.
    pub fn parse_text(&self, text: &str) -> Result<Module<'_>, Error> {
        let mut module = null_mut();
        let mut message = null_mut();
        // SAFETY: the buffer holds a copy of the text, ended by a zero byte as the parser wants it; disposed of here.
        let failed = unsafe {
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(text.as_ptr().cast(), text.len(), c"text".as_ptr());
            let failed = LLVMParseIRInContext2(self.raw, buffer, &raw mut module, &raw mut message);
            LLVMDisposeMemoryBuffer(buffer);
            failed
        };
        let message = take_message(message);
        match NonNull::new(module) {
            Some(module) if failed == 0 => Ok(Module::new(module)),
            _ => Err(self.error(&message)),
        }
    }

    /// LLVM's own.
    pub fn raw(&self) -> LLVMContextRef {
        self.raw
    }

    /// Fails if an error was diagnosed since.
    pub fn check(&self) -> Result<(), Error> {
        let errors = self.errors.borrow().len();
        match errors {
            0 => Ok(()),
            _ => Err(self.error("")),
        }
    }

    /// An error with what was diagnosed, or with `text` if nothing was.
    fn error(&self, text: &str) -> Error {
        let diagnosed = self.errors.take().join("; ");
        Error(if diagnosed.is_empty() {
            text.to_owned()
        } else {
            diagnosed
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        MODULE.set(String::new());
        // SAFETY: modules borrow the context, so none is left.
        unsafe { LLVMContextDispose(self.raw) }
    }
}

/// A module.
pub struct Module<'c> {
    raw: NonNull<LLVMModule>,
    context: PhantomData<&'c Context>,
}

impl Module<'_> {
    fn new(raw: NonNull<LLVMModule>) -> Self {
        Module {
            raw,
            context: PhantomData,
        }
    }

    /// LLVM's own.
    pub fn raw(&self) -> LLVMModuleRef {
        self.raw.as_ptr()
    }

    /// Moves the definitions of `other`, of the same context, that this module needs into it.
    pub fn link(&mut self, other: Self) -> Result<(), Error> {
        let other = std::mem::ManuallyDrop::new(other);
        // SAFETY: both are live modules; the call takes the other one over.
        match unsafe { LLVMLinkModules2(self.raw(), other.raw()) } {
            0 => Ok(()),
            _ => Err(Error("the inline tests do not link".into())),
        }
    }

    /// Asks LLVM whether the module is well-formed.
    pub fn verify(&self) -> Result<(), Error> {
        let mut message = null_mut();
        // SAFETY: a live module and a place for the message.
        let broken = unsafe {
            LLVMVerifyModule(
                self.raw(),
                LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &raw mut message,
            )
        };
        let message = take_message(message);
        match broken {
            0 => Ok(()),
            _ => Err(Error(format!("malformed: {}", message.trim_end()))),
        }
    }

    /// The module as text.
    pub fn text(&self) -> String {
        // SAFETY: a live module; the message is ours.
        take_message(unsafe { LLVMPrintModuleToString(self.raw()) })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: made by LLVM, not given back yet: `link` forgets what it hands over.
        unsafe { LLVMDisposeModule(self.raw()) }
    }
}

/// A target machine: runs passes and emits objects.
pub struct Machine {
    raw: LLVMTargetMachineRef,
    layout: LLVMTargetDataRef,
}

impl Machine {
    /// A machine for the target of `module`.
    pub fn new(module: &Module<'_>, options: &Options) -> Result<Machine, Error> {
        let cpu = CString::new(options.cpu.as_str())
            .map_err(|_| Error("a processor's name has a zero byte".into()))?;
        let mut target = null_mut();
        let mut message = null_mut();
        // SAFETY: a live module; the triple is a string of it that stays while nothing sets another. The options are
        // disposed of here, as the interface asks.
        unsafe {
            let triple = LLVMGetTarget(module.raw());
            if LLVMGetTargetFromTriple(triple, &raw mut target, &raw mut message) != 0 {
                return Err(Error(take_message(message)));
            }
            let machine = LLVMCreateTargetMachineOptions();
            LLVMTargetMachineOptionsSetCPU(machine, cpu.as_ptr());
            LLVMTargetMachineOptionsSetFeatures(machine, c"".as_ptr());
            // Without optimisation the inline tests would go through memory step by step: never below "less".
            LLVMTargetMachineOptionsSetCodeGenOptLevel(
                machine,
                match options.opt_level {
                    0 | 1 => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
                    2 => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                    _ => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
                },
            );
            LLVMTargetMachineOptionsSetRelocMode(
                machine,
                match options.pic {
                    true => LLVMRelocMode::LLVMRelocPIC,
                    false => LLVMRelocMode::LLVMRelocStatic,
                },
            );
            let raw = LLVMCreateTargetMachineWithOptions(target, triple, machine);
            LLVMDisposeTargetMachineOptions(machine);
            if raw.is_null() {
                return Err(Error("LLVM has no machine for the module's target".into()));
            }
            let layout = LLVMCreateTargetDataLayout(raw);
            Ok(Machine { raw, layout })
        }
    }

    /// Sizes of types.
    pub fn layout(&self) -> LLVMTargetDataRef {
        self.layout
    }

    /// Runs passes, named as `opt -passes=` has them.
    pub fn run(&self, module: &mut Module<'_>, passes: &str) -> Result<(), Error> {
        let passes = CString::new(passes).expect("names of passes have no zero byte");
        // SAFETY: all are live, and the options are disposed of here.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(module.raw(), passes.as_ptr(), self.raw, options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let message = LLVMGetErrorMessage(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(message);
            Err(Error(text))
        }
    }

    /// The module as an object file.
    pub fn emit(&self, module: &mut Module<'_>) -> Result<Vec<u8>, Error> {
        let mut message = null_mut();
        let mut buffer = null_mut();
        // SAFETY: all are live; the buffer is copied and disposed of here.
        unsafe {
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.raw,
                module.raw(),
                LLVMCodeGenFileType::LLVMObjectFile,
                &raw mut message,
                &raw mut buffer,
            );
            if failed != 0 {
                return Err(Error(take_message(message)));
            }
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let object = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(object)
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: made in `new`, given back once.
        unsafe {
            LLVMDisposeTargetData(self.layout);
            LLVMDisposeTargetMachine(self.raw);
        }
    }
}

/// Once a process: the target, and the handler of fatal errors.
fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no other use of LLVM has begun: all begin with a context, which waits for this.
        unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            // For assembly in the source.
            LLVMInitializeX86AsmParser();
            LLVMInstallFatalErrorHandler(Some(fatal));
            // Where a variable that lives in registers goes from block to block is of no use to a report.
            let options = [
                c"deadheat",
                c"-livedebugvalues-input-bb-limit=0",
                c"-livedebugvalues-input-dbg-value-limit=0",
                // Loops in callers see what their callees access, and check it at once.
                c"-inline-threshold=1000",
                // Counters of coverage: exact, and in the format that clang has for its notes.
                c"-gcov-atomic-counter",
                c"-instrprof-atomic-counter-update-all",
                c"-default-gcov-version=B11*",
            ]
            .map(CStr::as_ptr);
            LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), c"".as_ptr());
        }
    });
}

/// LLVM ends the process with status 1 after this returns.
extern "C" fn fatal(reason: *const c_char) {
    // SAFETY: LLVM gives a string.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    let module = MODULE.with_borrow(String::clone);
    eprintln!(
        "deadheat: LLVM failed on module {module}: {reason}; this is a bug in deadheat or in LLVM, please report it with that source"
    );
}

/// Keeps errors; warnings were told by the compiler that made the bitcode.
extern "C" fn collect(diagnostic: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: `errors` is what `Context::new` gave, a cell that outlives the context; the diagnostic lives for this call.
    unsafe {
        if LLVMGetDiagInfoSeverity(diagnostic) == LLVMDiagnosticSeverity::LLVMDSError {
            let text = take_message(LLVMGetDiagInfoDescription(diagnostic));
            (*errors.cast::<RefCell<Vec<String>>>()).borrow_mut().push(text);
        }
    }
}

/// A message of LLVM's as a string of ours; empty if there is none.
fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a string that LLVM made for us; it is given back here, once.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}
