"""Images of approved pages. In: addresses that parsed pages refer to; out: files, one a content, and what they are.

The holder of a domain's lease asks for them, beside its pages: on its own host at its own pace, on others by the gates.
"""
