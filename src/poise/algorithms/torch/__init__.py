"""Networks in PyTorch, all trials at once.

::

    initial_weights   initial weights of many copies of a module in one draw
    module_copies     copies of a user's module, each initialised from its own ξ
    random_numbers    random numbers from ξ alone, for one copy of a module or for thousands
    repeated_steps    repeat one training step; on a GPU it is recorded once and played back
    saved_memory      the memory that one copy of a module needs while it is trained
    seeded_dropout    dropout whose masks come from ξ
    single_output     a linear layer with one output, as products and sums that a compiler can fuse
    step_schedule     what differs between steps: the rows of minibatches, the seeds of dropout
    torch_algorithm   a ``torch.nn.Module`` and its training as an algorithm
    torch_fits        train one module, or both modules of thousands of trials, and predict
    torch_library     import PyTorch when it is first needed, and choose its device
    torch_settings    the arguments of ``poise.torch_algorithm``, checked
    training          train one module by an optimiser of PyTorch, or thousands of copies at once
"""
