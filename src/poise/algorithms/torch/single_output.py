"""A linear layer with one output, as products and sums that a compiler can fuse."""

from __future__ import annotations

from torch import Tensor, nn

__all__ = ["SingleOutput", "replace_single_outputs"]


class SingleOutput(nn.Linear):
    """``torch.nn.Linear(inputs, 1)``, without the product of matrices.

    A product with one column is slow for thousands of copies, and so is its gradient: it
    writes one number per input and row to the memory of a GPU, and reads it again.
    """

    def forward(self, rows: Tensor) -> Tensor:
        """Return the one output of every row."""
        found = (rows * self.weight[0]).sum(-1, keepdim=True)
        return found if self.bias is None else found + self.bias


def replace_single_outputs(module: nn.Module) -> nn.Module:
    """Return the module with every ``torch.nn.Linear(…, 1)`` inside it replaced.

    Examples
    --------
    >>> replace_single_outputs(nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))
    Sequential(
      (0): Linear(in_features=3, out_features=2, bias=True)
      (1): SingleOutput(in_features=2, out_features=1, bias=True)
    )
    """
    for parent in module.modules():
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear and child.out_features == 1:
                new = SingleOutput(child.in_features, 1, bias=child.bias is not None)
                setattr(parent, name, new.train(child.training))
    return module
