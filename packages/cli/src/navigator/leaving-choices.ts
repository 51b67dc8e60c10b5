/** What the question about a branch that is left offers, in this order. */
export const LEAVING_CHOICES = ["No summary", "A summary of the branch that is left", "A summary with a focus …"] as const;
